import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Block } from '../../../src/base/primitives/block.js'
import { createVerifierPool } from '../../../src/base/crypto/verifier-pool.js'
import { confirmBytes, parseConfirm } from '../../../src/base/primitives/confirm.js'
import type { Spec } from '../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { devnetValidatorKey } from '../../../src/clients/wallet/devnet-accounts.js'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import { checkConfirm } from '../../../src/ledger/consensus/check-confirm.js'
import { startNode } from '../../../src/node/start-node.js'
import { craftConfirm } from '../../../test/support/builders/blocks.js'
import { byTurns, median, spentOn, type Work } from '../measure.js'
import { following, reach, residentBytes, runNode } from '../processes.js'
import { processorTime } from '../processor-time.js'
import { type Row, row } from '../report.js'
import { fundedSpec, localnet, prepareBlocks, quiet, transferBlocks, withChain, withDirectory } from '../workshop.js'

const transactions = 1000
const fullBlocks = 100
const emptyBlocks = 5000
/** Blocks given to the chain at once without a network in between; about as many as in a sync. */
const runOf = { full: 8, empty: 256 }
const rounds = { warmUp: 0, measured: 3 }

/** A chain to sync, with blocks in the form received. */
interface Prepared {
  readonly text: string
  readonly spec: Spec
  readonly blocks: readonly { readonly block: Uint8Array; readonly confirm?: Uint8Array }[]
}

/** Blocks a second, and microseconds of processor time for each: of the node, and of the peer that it learns them from. */
interface Load {
  readonly rate: number
  readonly micros: number
  readonly peer: number
}

/**
 * Syncing a chain from one peer of another process, against connecting the same blocks from memory, alternating: blocks of 1000
 * transactions, and empty ones with the confirms of four validators. Rates depend on other load; processor times hardly do.
 */
export async function suite(): Promise<Row[]> {
  const full = await compare(await fullChain(), runOf.full)
  const empty = await compare(await emptyChain(), runOf.empty)
  const rated = (load: Load, of: Load, name: string, least: number) =>
    ({ ratio: [load.rate / of.rate, name], least }) as const
  const timed = (load: Load, of: Load, name: string, least: number) =>
    ({ ratio: [of.micros / load.micros, name], least }) as const
  return [
    row('connect blocks of 1000 transactions from memory', full.local.rate * transactions, 'tx/s'),
    row(
      'learn them from a peer',
      full.synced.rate * transactions,
      'tx/s',
      rated(full.synced, full.local, 'connecting', 0.85),
    ),
    row(
      '  processor time',
      full.synced.micros / transactions,
      'µs',
      timed(full.synced, full.local, 'connecting', 0.85),
    ),
    row('  that of the peer', full.synced.peer / transactions, 'µs'),
    row('resident memory of a node that did, at most', full.memory, 'MB', { most: 400 }),
    row('verify the confirms of empty blocks', empty.verified.rate, 'blocks/s'),
    row(
      'connect empty blocks with confirms from memory',
      empty.local.rate,
      'blocks/s',
      rated(empty.local, empty.verified, 'their signatures', 0.5),
    ),
    row('  processor time', empty.local.micros, 'µs', timed(empty.local, empty.verified, 'their signatures', 0.5)),
    row(
      'learn them from a peer',
      empty.synced.rate,
      'blocks/s',
      rated(empty.synced, empty.verified, 'their signatures', 0.5),
    ),
    row('  processor time', empty.synced.micros, 'µs', timed(empty.synced, empty.verified, 'their signatures', 0.5)),
    row('  that of the peer', empty.synced.peer, 'µs'),
    row('resident memory of a node that did, at most', empty.memory, 'MB', { most: 400 }),
  ]
}

async function fullChain(): Promise<Prepared> {
  const { text, spec, payers } = fundedSpec(transactions)
  const made = await withChain(spec, (chain) => transferBlocks(chain, payers, fullBlocks))
  return { text, spec, blocks: made.map((block) => ({ block })) }
}

async function emptyChain(): Promise<Prepared> {
  // Blocks from its second upgrade on commit to all coins, so that none can be made before those below it are connected.
  const text = JSON.stringify({ ...(JSON.parse(await localnet()) as object), upgrades: [] })
  const spec = parseSpec(text)
  const made = await withChain(spec, (chain) => prepareBlocks(chain, emptyBlocks))
  const plan = { voters: [0, 1, 2], keys: [0, 1, 2, 3].map((index) => devnetValidatorKey(index)) }
  const confirmOf = (block: Uint8Array) => confirmBytes(craftConfirm(spec, Block.fromBytes(block), plan))
  return { text, spec, blocks: made.map((block) => ({ block, confirm: confirmOf(block) })) }
}

/** Load by each of the two ways and of their confirms alone, and the maximum megabytes of a node by the command line that only synced. */
function compare(
  prepared: Prepared,
  size: number,
): Promise<Record<'local' | 'synced' | 'verified', Load> & { readonly memory: number }> {
  return withDirectory(async (directory) => {
    const spec = join(directory, 'spec.json')
    await writeFile(spec, prepared.text)
    await connectAll(prepared, size, join(directory, 'source'))
    const peer = await runNode(following(spec, join(directory, 'source')))
    const [address = ''] = peer.p2p
    try {
      const loads = await byTurns(rounds, (run) => run() as Promise<Load>, {
        local: (round) => () => connectAll(prepared, size, join(directory, `local${round}`)),
        synced: (round) => () => learn(prepared, { address, pid: peer.process.pid }, join(directory, `learnt${round}`)),
        verified: () => () => verifyConfirms(prepared),
      })
      const follower = await runNode(following(spec, join(directory, 'follower'), [address]))
      await reach(prepared.blocks.length, follower)
      const memory = residentBytes(follower.process, 'VmHWM') / 1e6
      await follower.stop()
      const { local, synced, verified } = loads
      return { local: medianOf(local), synced: medianOf(synced), verified: medianOf(verified), memory }
    } finally {
      await peer.stop()
    }
  })
}

function medianOf(loads: readonly Load[]): Load {
  const figure = (name: keyof Load) => median(loads.map((load) => load[name]))
  return { rate: figure('rate'), micros: figure('micros'), peer: figure('peer') }
}

/** Load of work on blocks in this process, and in that of a peer. */
async function loadOf({ blocks }: Prepared, run: Work, peer?: number): Promise<Load> {
  const before = peer === undefined ? 0 : processorTime([peer])
  const { wall, main, others } = await spentOn(run)
  const beside = peer === undefined ? 0 : processorTime([peer]) - before
  const each = (time: number) => (time * 1000) / blocks.length
  return { rate: blocks.length / (wall / 1000), micros: each(main + others), peer: each(beside) }
}

/** In calls of a thousand, with threads of its own. */
async function verifyConfirms(prepared: Prepared): Promise<Load> {
  const { spec, blocks } = prepared
  const checks = blocks.flatMap(({ block, confirm }) =>
    confirm === undefined ? [] : checkConfirm(spec, Block.fromBytes(block).header, parseConfirm(confirm)),
  )
  const verifier = createVerifierPool()
  const load = await loadOf(prepared, async () => {
    for (let i = 0; i < checks.length; i += 1000) await verifier.verifyAll(checks.slice(i, i + 1000))
  })
  await verifier.close()
  return load
}

/** With threads of its own, as each node begins: they have to read every key once. */
function connectAll(prepared: Prepared, size: number, directory: string): Promise<Load> {
  const { spec, blocks } = prepared
  const connect = async (chain: Chain) => {
    const load = await loadOf(prepared, async () => {
      for (let i = 0; i < blocks.length; i += size) await chain.acceptBlocks(blocks.slice(i, i + size))
    })
    await chain.close()
    return load
  }
  return withChain(spec, connect, { directory })
}

/** From the handshake with the peer until all blocks are on disk. */
async function learn(
  prepared: Prepared,
  peer: { readonly address: string; readonly pid: number | undefined },
  dataDir: string,
): Promise<Load> {
  const { spec, blocks } = prepared
  const network = { hosts: ['127.0.0.1'], peers: [peer.address], outbound: 1, inbound: 0 }
  const env = systemEnv(quiet)
  const node = await startNode({ spec, env, peering: { port: 0 }, tuning: { storage: { dataDir }, network } })
  try {
    const { network } = node.network as NonNullable<typeof node.network>
    if (network.peers.all().length === 0) {
      await new Promise<void>((resolve) => network.peers.events.once('joined', () => resolve()))
    }
    const learnt = () =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (node.chain.tip.header.height === blocks.length) resolve()
        }
        node.chain.events.on('change', look)
        look()
      })
    return await loadOf(prepared, learnt, peer.pid)
  } finally {
    await node.close()
  }
}
