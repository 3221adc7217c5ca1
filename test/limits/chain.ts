import { importBlocks } from '../../src/chain/block-file.js'
import { checkClock } from '../../src/consensus/context.js'
import { concat } from '../../src/primitives/bytes.js'
import { auxPowBytes } from '../../src/primitives/auxpow.js'
import type { Block } from '../../src/primitives/block.js'
import { Writer } from '../../src/primitives/codec.js'
import { Candidates } from '../../src/production/candidates.js'
import { craftBlock } from '../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../support/builders/chain.js'
import { configOf } from '../support/builders/config.js'
import { miningOf } from '../support/client/api.js'
import { everyDoor, limit, onlyFor } from './limit.js'

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
const each = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

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

const unit = ({ header, auxPow }: Block) => ({ header, auxPow: auxPowBytes(auxPow) })

export const chainLimits = [
  limit({
    name: 'consensus/context.twoHours',
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
    name: 'chain/block-file.maxBlock',
    unit: 'bytes',
    value: 9_000_000,
    feed: onlyFor(/out of bounds/, (n) => record(n, 0)),
    refusal: 'a length is out of bounds',
  }),
  limit({
    name: 'chain/block-file.maxConfirm',
    unit: 'bytes',
    value: 64 * 1024,
    feed: onlyFor(/out of bounds/, (n) => record(1000, n)),
    refusal: 'a length is out of bounds',
  }),
  limit({
    name: 'chain/branches.reorganisationDepth',
    unit: 'count',
    value: 288,
    feed: (n) =>
      onChain(async (test) => {
        const genesis = test.chain.tip
        for (let i = 0; i < n; i++) await test.accept(craftBlock(test.chain))
        await test.accept(craftBlock(test.chain, { parent: genesis }))
        return undefined
      }),
    refusal: 'block-too-deep',
  }),
  limit({
    name: 'chain/chain.queueLimit',
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
    name: 'production/candidates.maxCandidates',
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
    name: 'production/mining.maxBlocks',
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
    name: 'storage/prune-rows.leastKept',
    unit: 'count',
    value: 1000,
    // As few as that, and no fewer.
    beyond: 999,
    feed: (n) => void configOf(JSON.stringify({ storage: { prune: n } }), { command: 'start' }),
    refusal: 'storage.prune is not',
  }),
]
