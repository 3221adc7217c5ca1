import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Block } from '../../../src/base/primitives/block.js'
import { createVerifierPool } from '../../../src/base/crypto/verifier-pool.js'
import { confirmBytes, parseConfirm } from '../../../src/base/primitives/confirm.js'
import { parseSpec, type Spec } from '../../../src/base/primitives/spec.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { devnetValidatorKey } from '../../../src/clients/wallet/devnet-accounts.js'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import { checkConfirm } from '../../../src/ledger/consensus/check-confirm.js'
import { startNode } from '../../../src/node/start-node.js'
import { craftConfirm } from '../../../test/support/builders/blocks.js'
import { byTurns, figureOf, median, timeOf } from '../measure.js'
import { following, reach, residentBytes, runNode } from '../processes.js'
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

/**
 * Syncing a chain from one peer of another process, against connecting the same blocks from memory, alternating: blocks of 1000
 * transactions, and empty ones with the confirms of four validators.
 */
export async function suite(): Promise<Row[]> {
  const full = await compare(await fullChain(), runOf.full)
  const empty = await compare(await emptyChain(), runOf.empty)
  const verified = (rate: number) => ({ ratio: [rate / empty.verified, 'their signatures'], least: 0.5 }) as const
  const learnt = { ratio: [full.synced / full.local, 'connecting'], least: 0.85 } as const
  return [
    row('connect blocks of 1000 transactions from memory', full.local * transactions, 'tx/s'),
    row('learn them from a peer', full.synced * transactions, 'tx/s', learnt),
    row('resident memory of a node that did, at most', full.memory, 'MB', { most: 400 }),
    row('verify the confirms of empty blocks', empty.verified, 'blocks/s'),
    row('connect empty blocks with confirms from memory', empty.local, 'blocks/s', verified(empty.local)),
    row('learn them from a peer', empty.synced, 'blocks/s', verified(empty.synced)),
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

/** Blocks a second by each of the two ways and of their confirms alone, and the maximum megabytes of a node by the command line that only synced. */
function compare(
  prepared: Prepared,
  size: number,
): Promise<Record<'local' | 'synced' | 'verified' | 'memory', number>> {
  return withDirectory(async (directory) => {
    const spec = join(directory, 'spec.json')
    await writeFile(spec, prepared.text)
    await connectAll(prepared, size, join(directory, 'source'))
    const peer = await runNode(following(spec, join(directory, 'source')))
    const [address = ''] = peer.p2p
    try {
      const rates = await byTurns(rounds, figureOf, {
        local: (round) => () => connectAll(prepared, size, join(directory, `local${round}`)),
        synced: (round) => () => learn(prepared, address, join(directory, `learnt${round}`)),
        verified: () => () => verifyConfirms(prepared),
      })
      const follower = await runNode(following(spec, join(directory, 'follower'), [address]))
      await reach(prepared.blocks.length, follower)
      const memory = residentBytes(follower.process, 'VmHWM') / 1e6
      await follower.stop()
      const { local, synced, verified } = rates
      return { local: median(local), synced: median(synced), verified: median(verified), memory }
    } finally {
      await peer.stop()
    }
  })
}

/** In calls of a thousand, with threads of its own. */
async function verifyConfirms({ spec, blocks }: Prepared): Promise<number> {
  const checks = blocks.flatMap(({ block, confirm }) =>
    confirm === undefined ? [] : checkConfirm(spec, Block.fromBytes(block).header, parseConfirm(confirm)),
  )
  const verifier = createVerifierPool()
  const time = await timeOf(async () => {
    for (let i = 0; i < checks.length; i += 1000) await verifier.verifyAll(checks.slice(i, i + 1000))
  })
  await verifier.close()
  return blocks.length / (time / 1000)
}

/** With threads of its own, as each node begins: they have to read every key once. */
function connectAll({ spec, blocks }: Prepared, size: number, directory: string): Promise<number> {
  const connect = async (chain: Chain) => {
    const time = await timeOf(async () => {
      for (let i = 0; i < blocks.length; i += size) await chain.acceptBlocks(blocks.slice(i, i + size))
    })
    await chain.close()
    return blocks.length / (time / 1000)
  }
  return withChain(spec, connect, { directory })
}

/** From the handshake with the peer until all blocks are on disk. */
async function learn({ spec, blocks }: Prepared, peer: string, dataDir: string): Promise<number> {
  const network = { hosts: ['127.0.0.1'], peers: [peer], outbound: 1, inbound: 0 }
  const env = systemEnv(quiet)
  const node = await startNode({ spec, env, peering: { port: 0 }, tuning: { storage: { dataDir }, network } })
  try {
    const { network } = node.network as NonNullable<typeof node.network>
    if (network.peers.all().length === 0) {
      await new Promise<void>((resolve) => network.peers.events.once('joined', () => resolve()))
    }
    const time = await timeOf(
      () =>
        new Promise<void>((resolve) => {
          const look = () => {
            if (node.chain.tip.header.height === blocks.length) resolve()
          }
          node.chain.events.on('change', look)
          look()
        }),
    )
    return blocks.length / (time / 1000)
  } finally {
    await node.close()
  }
}
