import { writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Verifier } from '../../src/base/crypto/verifier.js'
import type { Spec } from '../../src/base/primitives/spec.js'
import {
  type Block,
  Chain,
  commandFile,
  confirmBytes,
  createVerifierPool,
  Database,
  devnetValidatorKey,
  type Header,
  parseSpec,
  proposalHash,
  proposalUnsigned,
  SignatureCache,
  sign,
  startNode,
  systemEnv,
  voteUnsigned,
} from './dist.js'
import { fundedSpec, mineBlock, quiet, selfTransfer, spendGenesis, withChain, withDirectory } from './load.js'
import { type LocalNodeOptions, reach, startLocalNode } from './local-nodes.js'
import { mostResidentBytes, run } from './processes.js'
import { median, type Row } from './report.js'

const transactionsPerBlock = 1000
const fullBlocks = 100
const emptyBlocks = 5000
/** Blocks given to the chain at once without a network in between; about as many as in a sync. */
const runOf = { full: 8, empty: 256 }
const rounds = 3

/** A chain to sync, with blocks in the form received. */
interface Prepared {
  readonly text: string
  readonly spec: Spec
  readonly blocks: readonly { readonly block: Uint8Array; readonly confirm?: Uint8Array }[]
}

/**
 * Syncing a chain from one peer of another process, against connecting the same blocks from memory, alternating: blocks of 1000
 * transactions, and empty ones with the confirms of four validators.
 */
export async function syncSuite(): Promise<Row[]> {
  const verifier = createVerifierPool()
  try {
    const full = await compare(await fullChain(verifier), runOf.full)
    const empty = await compare(await emptyChain(verifier), runOf.empty)
    const thousand = (rate: number) => rate * transactionsPerBlock
    return [
      { name: 'connect blocks of 1000 transactions from memory', value: thousand(full.local), unit: 'tx/s' },
      {
        name: 'learn them from a peer',
        value: thousand(full.synced),
        unit: 'tx/s',
        ratio: { value: full.synced / full.local, against: 'connecting' },
        target: { least: 0.85 },
      },
      { name: 'resident memory of a node that did, at most', value: full.memory, unit: 'MB', target: { most: 400 } },
      { name: 'connect empty blocks with confirms from memory', value: empty.local, unit: 'blocks/s' },
      { name: 'learn them from a peer', value: empty.synced, unit: 'blocks/s', target: { least: 1500 } },
      { name: 'resident memory of a node that did, at most', value: empty.memory, unit: 'MB', target: { most: 400 } },
    ]
  } finally {
    await verifier.close()
  }
}

async function fullChain(verifier: Verifier): Promise<Prepared> {
  const { text, spec, payers } = fundedSpec(transactionsPerBlock)
  return withChain(spec, { verifier }, async (chain) => {
    spendGenesis(chain, payers)
    const blocks: { block: Uint8Array }[] = []
    let parent: Header = chain.genesis.header
    while (blocks.length < fullBlocks) {
      const block = await mineBlock(
        chain,
        parent,
        payers.map((payer) => selfTransfer(payer, chain.sanity.assetId)),
      )
      blocks.push({ block: block.bytes })
      parent = block.header
    }
    return { text, spec, blocks }
  })
}

async function emptyChain(verifier: Verifier): Promise<Prepared> {
  const text = readFileSync(new URL('../../genesis/localnet.json', import.meta.url), 'utf8')
  const spec = parseSpec(text)
  return withChain(spec, { verifier }, async (chain) => {
    const blocks: { block: Uint8Array; confirm: Uint8Array }[] = []
    let parent: Header = chain.genesis.header
    while (blocks.length < emptyBlocks) {
      const block = await mineBlock(chain, parent, [])
      blocks.push({ block: block.bytes, confirm: confirmOf(block) })
      parent = block.header
    }
    return { text, spec, blocks }
  })
}

/** A confirm by three of the four validators of a localnet. */
function confirmOf({ header }: Block): Uint8Array {
  const keys = [0, 1, 2, 3].map((index) => devnetValidatorKey(index))
  const sponsor = keys[header.height % keys.length] as (typeof keys)[number]
  const unsigned = { sponsor: sponsor.publicKey, blockHash: header.hash, viewOffset: 0 }
  const proposal = { ...unsigned, signature: sign(proposalUnsigned(unsigned), sponsor.privateKey) }
  const votes = keys.slice(0, 3).map(({ publicKey, privateKey }) => {
    const vote = { proposalHash: proposalHash(unsigned), signer: publicKey, accept: true }
    return { ...vote, signature: sign(voteUnsigned(vote), privateKey) }
  })
  return confirmBytes({ proposal, votes })
}

/** Blocks a second by each of the two ways, and the megabytes of a node that only synced. */
async function compare(prepared: Prepared, size: number): Promise<{ local: number; synced: number; memory: number }> {
  return withDirectory(async (directory) => {
    const spec = join(directory, 'spec.json')
    await writeFile(spec, prepared.text)
    await connectAll(prepared, size, join(directory, 'source'))
    const peer = await run(
      [
        commandFile,
        'start',
        '--genesis',
        spec,
        '--data-dir',
        join(directory, 'source'),
        '--p2p-host',
        '127.0.0.1',
      ].concat(['--port-base', '0', '--json', '--log-level', 'error']),
      /"p2p":\["([^"]+)"/,
    )
    try {
      const local: number[] = []
      const synced: number[] = []
      for (let round = 0; round < rounds; round++) {
        local.push(await connectAll(prepared, size, join(directory, `local${round}`)))
        synced.push(await learn(prepared, peer.announced, join(directory, `learnt${round}`)))
      }
      const memory = await memoryOf(prepared, { directory, name: 'follower', spec, peers: [peer.announced] })
      return { local: median(local), synced: median(synced), memory }
    } finally {
      await peer.stop()
    }
  })
}

/** With threads of its own, as each node begins: they have to read every key once. */
async function connectAll({ spec, blocks }: Prepared, size: number, directory: string): Promise<number> {
  const verifier = createVerifierPool()
  const database = await Database.open(join(directory, 'chain'))
  try {
    const parts = { spec, database, verifier, signatures: new SignatureCache(), clock: Date, log: quiet }
    const chain = await Chain.open(parts)
    const start = performance.now()
    for (let i = 0; i < blocks.length; i += size) await chain.acceptBlocks(blocks.slice(i, i + size))
    const rate = blocks.length / ((performance.now() - start) / 1000)
    await chain.close()
    return rate
  } finally {
    await database.close()
    await verifier.close()
  }
}

/** Seconds from the handshake with the peer until all blocks are on disk. */
async function learn({ spec, blocks }: Prepared, peer: string, dataDir: string): Promise<number> {
  const network = { hosts: ['127.0.0.1'], peers: [peer], outbound: 1, inbound: 0 }
  const env = systemEnv(quiet)
  const node = await startNode({ spec, env, peering: { port: 0 }, tuning: { storage: { dataDir }, network } })
  try {
    const { network } = node.network as NonNullable<typeof node.network>
    if (network.peers.all().length === 0) {
      await new Promise<void>((resolve) => network.peers.events.once('joined', () => resolve()))
    }
    const start = performance.now()
    await new Promise<void>((resolve) => {
      const look = () => {
        if (node.chain.tip.header.height === blocks.length) resolve()
      }
      node.chain.events.on('change', look)
      look()
    })
    return blocks.length / ((performance.now() - start) / 1000)
  } finally {
    await node.close()
  }
}

/** Maximum megabytes of a node by the command line until it had synced. */
async function memoryOf({ blocks }: Prepared, options: LocalNodeOptions): Promise<number> {
  const node = await startLocalNode(options)
  try {
    await reach(blocks.length, node)
    return mostResidentBytes(node) / 1e6
  } finally {
    await node.stop()
  }
}
