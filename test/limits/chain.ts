import { importBlocks } from '../../src/ledger/chain/block-file.js'
import { HeaderIndex, type KnownHeader } from '../../src/ledger/chain/header-index.js'
import { leavingBlocks } from '../../src/ledger/chain/rewind-chain.js'
import { SideBlocks } from '../../src/ledger/chain/side-blocks.js'
import { checkState } from '../../src/ledger/state/check-state.js'
import { partKind, readParts } from '../../src/ledger/state/parts.js'
import { encodeHead } from '../../src/ledger/state/state-head.js'
import { createInlineVerifier } from '../../src/base/crypto/inline.js'
import { checkClock } from '../../src/ledger/consensus/context.js'
import { concat } from '../../src/base/primitives/bytes.js'
import { auxPowBytes } from '../../src/base/primitives/auxpow.js'
import type { Block } from '../../src/base/primitives/block.js'
import { Writer } from '../../src/base/primitives/codec.js'
import { Candidates } from '../../src/ledger/production/candidates.js'
import { Database } from '../../src/ledger/storage/database.js'
import { craftBlock } from '../support/builders/blocks.js'
import { memoryStore, oneValidator, TestChain, withoutValidators } from '../support/builders/chain.js'
import { configOf } from '../support/builders/config.js'
import { fakeHeader } from '../support/builders/votes.js'
import { miningOf } from '../support/client/api.js'
import { closing, each, everyDoor, limit, mib, onlyFor } from './limit.js'

async function* piecesOf<T>(...pieces: readonly T[]): AsyncGenerator<T> {
  yield* pieces
}

/** The head of a state without leaves, in subtrees at a depth. */
function headOf(genesis: Uint8Array, depth: number): Uint8Array {
  return encodeHead({ genesis, height: 288, coins: 0, sum: 0n, depth, confirm: new Uint8Array(0) })
}

/** Runs over a new chain. */
async function onChain<T>(run: (test: TestChain) => Promise<T>, overrides = withoutValidators): Promise<T> {
  const test = await TestChain.open(overrides)
  try {
    return await run(test)
  } finally {
    await test.close()
  }
}

const byMiners = { ...oneValidator(), producer: 'miners' }

/** Imports a file whose first record says these lengths. */
const record = (block: number, confirm: number) =>
  onChain(async ({ chain }) => {
    const head = concat(Buffer.from('didblk01', 'latin1'), chain.genesis.header.hash)
    const file = concat(head, new Writer(8).u32(block).u32(confirm).finish())
    async function* pieces() {
      yield file
    }
    await importBlocks(chain, pieces())
  })

let deep: Promise<TestChain> | undefined

async function openDeep(): Promise<TestChain> {
  const test = await TestChain.open(withoutValidators)
  closing.push(() => test.close())
  return test
}

/** A block beside the first of so many, which one chain gets step by step. */
async function forkBelow(blocks: number): Promise<void> {
  const { chain } = await (deep ??= openDeep())
  while (chain.tip.header.height < blocks) await chain.acceptBlock(craftBlock(chain).bytes)
  const parent = chain.headers.get(chain.genesis.header.hash) ?? chain.tip
  await chain.acceptBlock(craftBlock(chain, { parent, header: { nonce: blocks } }).bytes)
}

const unit = ({ header, auxPow }: Block) => ({ header, auxPow: auxPowBytes(auxPow) })

/** Keeps blocks of these sizes off the active chain. */
async function aside(sizes: readonly number[]): Promise<string | undefined> {
  const database = await Database.over(memoryStore())
  const side = await SideBlocks.open(database, new HeaderIndex(database))
  for (const [i, size] of sizes.entries()) {
    if (side.full) return 'no further block fits'
    side.add({ header: fakeHeader(i, `block ${i}`), chainWork: 1n, size, arrival: i })
  }
  return undefined
}

/** Takes all blocks of a devnet but the first off its chain, given their sizes from the lowest on. */
function leaving(sizes: readonly number[]): void {
  const headers = { activeAt: (height: number) => ({ size: sizes[height - 1] }) as KnownHeader }
  leavingBlocks({ headers, tip: () => ({ header: { height: sizes.length } }) as KnownHeader }, 0)
}

export const chainLimits = [
  limit({
    name: 'ledger/consensus/context.twoHours',
    unit: 's',
    value: 7200,
    feed: (n) =>
      onChain(({ chain }) => {
        const { header } = craftBlock(chain)
        checkClock(chain.spec, header, (header.time - n) * 1000)
        return Promise.resolve(undefined)
      }),
    refusal: 'block-time-future',
  }),
  limit({
    name: 'ledger/chain/block-file.maxBlock',
    unit: 'bytes',
    value: 9_000_000,
    feed: onlyFor(/out of bounds/, (n) => record(n, 0)),
    refusal: 'a length is out of bounds',
  }),
  limit({
    name: 'ledger/chain/block-file.maxConfirm',
    unit: 'bytes',
    value: 64 * 1024,
    feed: onlyFor(/out of bounds/, (n) => record(1000, n)),
    refusal: 'a length is out of bounds',
  }),
  limit({
    name: 'ledger/state/parts.maxPart',
    unit: 'bytes',
    value: 64 * mib,
    feed: onlyFor(/does not follow/, async (n) => {
      const head = new Writer(9).u8(1).u32(0).u32(n).finish()
      for await (const part of readParts(piecesOf(concat(Buffer.from('DLS1'), head)))) return String(part.number)
      return undefined
    }),
    refusal: 'does not follow',
  }),
  limit({
    name: 'ledger/state/state-head.maxDepth',
    unit: 'levels',
    value: 20,
    feed: onlyFor(/subtrees at depth/, (n) =>
      onChain(
        async ({ spec, chain, clock }) => {
          const parts = [{ kind: partKind.head, number: 0, bytes: headOf(chain.genesis.header.hash, n) }]
          await checkState(piecesOf(...parts), { spec, verifier: createInlineVerifier(), clock })
        },
        { ...withoutValidators, coinInterval: 288 },
      ),
    ),
    refusal: 'subtrees at depth',
  }),
  limit({
    name: 'ledger/chain/branches.reorganisationDepth',
    unit: 'count',
    value: 288,
    feed: forkBelow,
    refusal: 'block-too-deep',
  }),
  limit({
    name: 'ledger/chain/chain.queueLimit',
    unit: 'count',
    value: 256,
    feed: onlyFor(/^busy/, (n) =>
      onChain(async ({ chain }) => {
        const outcomes = await Promise.allSettled(each(n, () => chain.acceptBlock(new Uint8Array(1))))
        const refusals = outcomes.map((one) =>
          one.status === 'rejected' ? (one.reason as { code: string }) : undefined,
        )
        return refusals.find((refusal) => refusal?.code === 'busy') && 'busy: a block finds no room'
      }),
    ),
    refusal: 'busy',
  }),
  limit({
    name: 'ledger/chain/side-blocks.sideBlockLimit',
    unit: 'count',
    value: 1024,
    feed: (n) => aside(each(n, () => 1)),
    refusal: 'no further block fits',
  }),
  limit({
    name: 'ledger/chain/side-blocks.sideByteLimit',
    unit: 'bytes',
    value: 2 ** 31,
    feed: (n) => aside([...each(255, () => 2 ** 23), n - 255 * 2 ** 23 - 1, 1]),
    refusal: 'no further block fits',
  }),
  limit({
    name: 'ledger/chain/rewind-chain.replacedBlocks',
    unit: 'count',
    value: 20_000,
    feed: (n) => leaving(each(n, () => 1)),
    refusal: 'request-parameter: too much of the chain would leave at once: 20001 blocks',
  }),
  limit({
    name: 'ledger/chain/rewind-chain.replacedBytes',
    unit: 'bytes',
    value: 64 * mib,
    feed: (n) => leaving([1, n - 60 * mib - 1, 60 * mib]),
    refusal: 'request-parameter: too much of the chain would leave at once: 3 blocks',
  }),
  limit({
    name: 'ledger/production/candidates.maxCandidates',
    unit: 'count',
    value: 8,
    feed: everyDoor(
      (n) =>
        onChain(({ chain, clock }) => {
          const candidates = new Candidates(chain, clock)
          const taken = each(n, () => candidates.announce(unit(craftBlock(chain)), () => Promise.resolve(undefined)))
          return Promise.resolve(taken.includes(false) ? 'a candidate is not kept' : undefined)
        }, byMiners),
      (n) =>
        onChain(async ({ chain, clock }) => {
          const candidates = new Candidates(chain, clock)
          const offers = each(n, () => candidates.offer(craftBlock(chain)).catch((error: Error) => error.message))
          return Promise.race([...offers, new Promise<undefined>((resolve) => setImmediate(resolve, undefined))])
        }, byMiners),
    ),
    refusal: 'a candidate is not kept\n8 blocks wait for their turn already',
  }),
  limit({
    name: 'ledger/production/mining.maxBlocks',
    unit: 'count',
    value: 1000,
    // Without an address to pay none is made.
    feed: onlyFor(/^request-parameter/, (n) =>
      onChain((test) =>
        miningOf(test)
          .mine(n)
          .then(() => undefined),
      ),
    ),
    refusal: 'request-parameter: count: 1001 is not an integer from 1 to 1000',
  }),
  limit({
    name: 'ledger/storage/rows/prune-rows.leastKept',
    unit: 'count',
    value: 1000,
    // As few as that, and no fewer.
    beyond: 999,
    feed: (n) => void configOf(JSON.stringify({ storage: { prune: n } }), { command: 'start' }),
    refusal: 'storage.prune is not',
  }),
  limit({
    name: 'ledger/storage/rows/prune-rows.leastKeptDocuments',
    unit: 'count',
    value: 288,
    // As few as that, and no fewer.
    beyond: 287,
    feed: (n) => void configOf(JSON.stringify({ storage: { pruneDocuments: n } }), { command: 'start' }),
    refusal: 'storage.pruneDocuments is not',
  }),
]
