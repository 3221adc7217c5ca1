import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { auxPowBytes, parentHash, soloAuxPow } from '../../src/base/primitives/auxpow.js'
import { hex, littleEndianInteger, toHex } from '../../src/base/primitives/bytes.js'
import { targetOf } from '../../src/base/primitives/compact.js'
import { type DevnetStory, hashAt, openDevnetStory, payee, payer } from './devnet-story.js'
import { type Exchange, Scene, sceneTime } from './scene.js'

/** The requests of the reference, one per method, sent in the order of the table of methods. */

/** Subjects of the samples: two chains, and events on the first. */
export interface Story extends DevnetStory {
  readonly pow: Scene
  /** Another node of the chain of `pow`, which starts without a peer. */
  readonly other: Scene
}

export interface Sample {
  /** Parameters, which may depend on earlier events. */
  readonly params: (story: Story) => unknown
  /** The parameters to show, if the real ones differ from run to run. */
  readonly shownParams?: unknown
  /** Interface of the request; the devnet over HTTP by default. */
  readonly at?: 'pow' | 'websocket'
  /** The part of the result to show; all of it by default. */
  readonly shown?: (result: never) => unknown
}

const nothing: Sample = { params: () => ({}) }
const none: Sample = { params: () => [] }
/** Path of the backup in the sample. */
const shownBackup = '/var/backups/didledger/monday'

export const samples: Readonly<Record<string, Sample>> = {
  resolvedid: { params: () => ({ did: payer.did, all: false }) },
  query: { params: () => ({ service: 'LinkedDomains', limit: 1 }) },
  did_resolveDID: { params: () => ({ did: payer.did, versionHeight: 2 }) },
  did_resolveCredential: { params: () => ({ id: `${payer.did}#email` }) },
  did_listCredentials: { params: () => ({ did: payer.did }) },
  did_prove: { params: () => ({ did: payer.did }) },
  did_proveCredential: { params: () => ({ id: `${payer.did}#email` }) },
  light_trust: nothing,
  light_anchor: nothing,
  light_changes: { params: () => ({ from: 0 }) },
  light_headers: { at: 'pow', params: () => ({ from: 0, count: 1 }) },
  listdidoperations: { params: () => ({ limit: 1 }) },
  countdids: nothing,

  getchaininfo: nothing,
  getblockcount: nothing,
  getcurrentheight: nothing,
  getbestblockhash: nothing,
  getblockhash: { params: () => ({ height: 1 }) },
  getblock: { params: ({ devnet }) => ({ blockhash: hashAt(devnet, 1), verbosity: 1 }) },
  getblockbyheight: { params: () => ({ height: 1 }) },
  listblocks: { params: () => ({ limit: 1 }) },
  listdays: nothing,
  getconfirmbyheight: { params: () => ({ height: 1 }) },
  getconfirmbyhash: { params: ({ devnet }) => ({ blockhash: hashAt(devnet, 1), verbosity: 0 }) },
  getarbitersinfo: nothing,
  listvoters: { params: () => ({ from: 1, to: 2 }) },
  getevidence: nothing,

  getrawtransaction: { params: ({ paid }) => ({ txid: paid.txid, verbose: true }) },
  getrawmempool: nothing,
  sendrawtransaction: { params: ({ unsent }) => ({ data: unsent.toHex() }) },
  decoderawtransaction: { params: ({ unsent }) => ({ data: unsent.toHex() }) },

  getreceivedbyaddress: { params: () => ({ address: payee.address }) },
  listunspent: { params: () => ({ addresses: [payee.address] }) },
  getutxosbyamount: { params: () => ({ address: payee.address, amount: '5' }) },
  getaddresshistory: { params: () => ({ address: payer.address, limit: 1 }) },
  estimatesmartfee: { params: () => ({ confirmations: 6 }) },

  createrawtransaction: {
    params: ({ paid }) => ({
      inputs: [{ txid: paid.txid, vout: 0 }],
      outputs: [{ address: payer.address, amount: '4.9999' }],
      locktime: 0,
    }),
  },
  getamountbyinputs: { params: ({ paid }) => ({ inputs: `01${toHex(paid.hash)}0000ffffffff` }) },

  getconnectioncount: nothing,
  getinfo: nothing,
  getfeerate: nothing,
  getneighbors: nothing,
  getnodestate: {
    params: () => ({}),
    // The sample node listens on free ports.
    shown: (state: Record<string, unknown>) => ({ ...state, PRCPort: 20336, RestPort: 20334, WSPort: 20335 }),
  },
  getsyncstatus: {
    at: 'pow',
    params: async (story) => {
      await connect(story)
      return {}
    },
    shown: ({ peers, ...status }: { peers: object[] }) => ({
      ...status,
      peers: peers.map((peer) => ({ ...peer, address: '192.0.2.7:20338' })),
    }),
  },
  addpeer: {
    at: 'pow',
    params: (story) => ({ address: addressOf(story) }),
    shownParams: { address: '192.0.2.7:20338' },
  },
  disconnectpeer: { at: 'pow', params: ({ other }) => ({ id: other.node.identity.id }) },
  listbans: {
    at: 'pow',
    params: async ({ pow }) => {
      await pow.call('addban', { peer: '192.0.2.7', reason: 'endless headers' })
      return {}
    },
  },
  addban: { at: 'pow', params: () => ({ peer: '2001:db8::7', seconds: 3600, reason: 'endless headers' }) },
  removeban: { at: 'pow', params: () => ({ peer: '192.0.2.7' }) },

  eth_blockNumber: none,
  eth_chainId: none,
  eth_syncing: none,
  net_version: none,
  net_peerCount: none,
  net_listening: none,
  web3_clientVersion: none,

  createauxblock: { at: 'pow', params: () => ({ paytoaddress: payer.address }) },
  submitauxblock: {
    at: 'pow',
    params: async ({ pow }) => {
      const work = await pow.call<{ hash: string; bits: string }>('createauxblock', { paytoaddress: payer.address })
      return { blockhash: work.hash, auxpow: solved(work) }
    },
  },
  getmininginfo: { at: 'pow', params: () => ({}) },
  discretemining: { at: 'pow', params: () => ({ count: 2, paytoaddress: payer.address }) },
  togglemining: { at: 'pow', params: () => ({ mining: false }) },

  subscribe: { at: 'websocket', params: () => ({ topics: ['block', 'did'] }) },
  unsubscribe: { at: 'websocket', params: () => ({ subscription: 1 }) },

  provetoken: {
    params: () => ({ nonce: '5e'.repeat(32) }),
    // They differ from run to run: the ports are free ones, the directory is a temporary one.
    shown: () => ({ proof: 'c5'.repeat(32), datadir: '/home/alice/.local/share/didledger/corp-c856a89d' }),
  },
  stop: { params: () => ({}) },
  setloglevel: { params: () => ({ level: 'info' }) },
  backup: {
    params: () => ({ path: join(mkdtempSync(join(tmpdir(), 'didledger-sample-')), 'backup') }),
    shownParams: { path: shownBackup },
    shown: ({ path, ...backup }: { path: string }) => {
      rmSync(dirname(path), { recursive: true })
      return { path: shownBackup, ...backup, rows: 1200, bytes: 400_000, total: 500_000 }
    },
  },
  help: { params: () => ({}), shown: (text: string) => `${text.split('\n').slice(0, 4).join('\n')}\n…` },
  'rpc.discover': {
    params: () => ({}),
    // Its examples are made of the samples.
    shown: ({ methods, ...document }: { methods: { name: string; examples: unknown }[] }) => ({
      ...document,
      methods: methods.flatMap(({ examples: _, ...row }) => (row.name === 'getblockhash' ? [row] : [])),
    }),
  },

  dev_mine: { params: () => ({ blocks: 2 }) },
  dev_increaseTime: { params: () => ({ seconds: 86_400 }) },
  dev_setTime: { params: () => ({ time: sceneTime + 90_000 }) },
  dev_setNextBlockTime: { params: () => ({ time: sceneTime + 172_800 }) },
  dev_accounts: { params: () => ({}), shown: (accounts: object[]) => accounts.slice(0, 1) },
  dev_keys: {
    params: () => ({}),
    shown: ({ mnemonic, keys }: { mnemonic: string; keys: object[] }) => ({ mnemonic, keys: keys.slice(0, 1) }),
  },
  dev_faucet: { params: () => ({ address: payee.address, amount: '1.5' }) },
  dev_snapshot: nothing,
  dev_revert: { params: () => ({ id: 1 }) },
  dev_reorg: { params: () => ({ blocks: 1 }) },
  dev_dropTransaction: { params: ({ devnet }) => ({ txid: pooled(devnet) }) },
  dev_dumpState: { params: () => ({}), shown: beginning },
  dev_loadState: {
    params: async ({ devnet }) => ({ state: await devnet.call<string>('dev_dumpState', {}) }),
    shownParams: { state: 'H4sIAAAAAAAA…' },
  },
}

/** The exchange of every method in the order of `names`; `shown` selects the part of its result to show. */
export async function runSamples(
  names: readonly string[],
): Promise<ReadonlyMap<string, Exchange & { readonly shown: unknown }>> {
  const exchanges = new Map<string, Exchange & { readonly shown: unknown }>()
  const story = await openStory()
  try {
    for (const name of names) {
      const sample = samples[name]
      if (sample === undefined) throw new Error(`scripts/docs/json-rpc-samples.ts has no sample of ${name}`)
      const params = await sample.params(story)
      const asked = await ask(story, name, sample.at, params)
      const { shownParams = params } = sample
      const exchange = { ...asked, request: { ...asked.request, params: shownParams } }
      if (exchange.answer.error !== undefined) throw new Error(`${name}: ${JSON.stringify(exchange.answer.error)}`)
      const { shown = (result: unknown) => result } = sample
      exchanges.set(name, { ...exchange, shown: shown(exchange.answer.result as never) })
    }
    return exchanges
  } finally {
    await Promise.all([story.devnet, story.pow, story.other].map((scene) => scene.close()))
  }
}

function addressOf({ other }: Story): string {
  return other.node.network?.transport.addresses[0] as string
}

function connect(story: Story): Promise<unknown> {
  return story.pow.call('addpeer', { address: addressOf(story) })
}

function ask({ devnet, pow }: Story, name: string, at: Sample['at'], params: unknown): Promise<Exchange> {
  if (at === 'websocket') return devnet.exchangeOverWebSocket(name, params)
  return (at === 'pow' ? pow : devnet).exchange(name, params)
}

async function openStory(): Promise<Story> {
  const pow = await Scene.open('pow')
  // A chain without a block of now is not in step.
  await pow.call('discretemining', { count: 1, paytoaddress: payer.address })
  return { ...(await openDevnetStory()), pow, other: await Scene.open('pow', 'other') }
}

/** The work for a block, as an outside miner would do it. */
function solved({ hash, bits }: { readonly hash: string; readonly bits: string }): string {
  const auxPow = soloAuxPow(hex(hash), sceneTime)
  for (let nonce = 0; ; nonce++) {
    const attempt = { ...auxPow, parent: { ...auxPow.parent, nonce } }
    if (littleEndianInteger(parentHash(attempt)) <= targetOf(parseInt(bits, 16))) return toHex(auxPowBytes(attempt))
  }
}

/** A transaction that waits for a block. */
function pooled({ node }: Scene): string {
  const [entry] = node.mempool.entries()
  if (entry === undefined) throw new Error('nothing waits for a block')
  return entry.transaction.txid
}

/** A text whose rest depends on the run. */
function beginning(text: string): string {
  return `${text.slice(0, 12)}…`
}
