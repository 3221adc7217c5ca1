import { describe, expect, it } from 'vitest'
import { Chain } from '../../../../src/ledger/chain/chain.js'
import { stateDigest } from '../../../../src/ledger/chain/replay-chain.js'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { meta, tables } from '../../../../src/ledger/storage/rows/tables.js'
import { craftBlock } from '../../../support/builders/blocks.js'
import { quietLog, TestChain } from '../../../support/builders/chain.js'
import { FaultyStore } from '../../../support/fakes/faulty-store.js'

/**
 * A chain on `left`, with `below` as a side block of the same height; `top` makes that branch the heavier one. With `fees` the top
 * takes more than it may.
 */
async function scene({ batch = 1, fees = 0n }: { batch?: number; fees?: bigint } = {}) {
  const store = new FaultyStore()
  const test = await TestChain.open(undefined, { store: store.store, reorganisationBytes: batch })
  test.chain.events.on('fatal', () => {})
  const genesis = test.chain.tip
  const left = craftBlock(test.chain)
  await test.accept(left)
  const below = craftBlock(test.chain, { parent: genesis })
  await test.accept(below)
  const top = craftBlock(test.chain, { parent: test.knownHeader(below.header.hash), fees })
  await test.database.idle()
  return { store, test, left, below, top }
}

/** Opens the chain of a store again; returns what its log says. */
async function resumed({ store }: FaultyStore, { spec, clock }: TestChain) {
  const database = await Database.over(store)
  const said: string[] = []
  const log = { ...quietLog(), info: (_: object, message: string) => void said.push(message) }
  const parts = { verifier: createInlineVerifier(), signatures: new SignatureCache() }
  return { chain: await Chain.open({ spec, database, clock, log, ...parts }), said }
}

describe('a reorganisation', () => {
  it.each([
    ['a batch for each block, where no two fit', 1, 4],
    ['one batch, where all fit', 1_000_000, 1],
  ])('takes %s', async (_, batch, count) => {
    const { store, test, left, below, top } = await scene({ batch })
    let looks = 0
    store.look = (written) => void (looks += written.some((key) => meta.tip.key.equals(key)) ? 1 : 0)
    expect(await test.chain.acceptBlock(top.bytes)).toBe('connected')
    // Each is looked at before and after.
    expect(looks).toBe(2 * count)
    expect(test.database.get(meta.reorganisation.key)).toBeUndefined()
    const kept = [left, below, top].map(
      ({ header }) => test.database.get(tables.sideBody.key(header.hash)) !== undefined,
    )
    expect(kept).toEqual([true, false, false])
    await test.close()
  })

  it.each([
    ['finished', 0n, 1],
    ['finished', 0n, 2],
    ['finished', 0n, 3],
    ['taken back', 1n, 3],
  ])('that a stop cut short is %s by the next start, which says so (%i, %i)', async (end, fees, lasts) => {
    const { store, test, left, top } = await scene({ fees })
    // Batches: the marker, the block that leaves, the one below the top.
    store.lasts = store.writes + lasts
    await expect(test.chain.acceptBlock(top.bytes)).rejects.toThrow('no space')
    store.lasts = Infinity
    // The rows are between two tips: no clean point is written.
    await test.chain.close()
    const last = test.database.newest.get(tables.journal.key(test.database.sequence)) as Buffer
    expect(tables.journal.decode(last).kind).toBe('reorganisation')
    await test.database.close()

    // A failure of the disk meanwhile is no damage.
    store.lasts = store.writes
    await expect(resumed(store, test)).rejects.not.toThrow(/damaged/)
    store.lasts = Infinity
    await store.close()
    const { chain, said } = await resumed(store, test)
    expect(said).toEqual([`a reorganisation that a stop cut short was ${end}`])
    expect(chain.tip.header.id).toBe(end === 'finished' ? top.hash : left.hash)
    expect(chain.database.get(meta.reorganisation.key)).toBeUndefined()
    await chain.close()
    await chain.database.close()
    const again = await resumed(store, test)
    expect([again.said, again.chain.tip.header.id]).toEqual([[], chain.tip.header.id])
  })

  it.each([1, 1_000_000])(
    'to a branch that breaks a rule leaves all as it was, in batches of %i bytes',
    async (batch) => {
      const { test, left, below, top } = await scene({ batch, fees: 1n })
      const foreseen: string[] = []
      const foresee = async (block: typeof top) => void foreseen.push(block.hash)
      test.chain.addIndexer({ foresee, stage: () => {}, follow: async () => {} })
      const digest = await stateDigest(test.database)
      await expect(test.accept(top)).rejects.toMatchObject({ code: 'coinbase-value' })
      expect(test.chain.tip.header.id).toBe(left.hash)
      const { hash, height } = test.chain.tip.header
      expect(test.database.get(meta.tip.key)).toEqual(Buffer.from(meta.tip.encode({ hash, height })))
      expect(await stateDigest(test.database)).toBe(digest)
      const statusOf = (hash: Uint8Array) => test.chain.headers.get(hash)?.status
      expect([left, below, top].map(({ header }) => statusOf(header.hash))).toEqual(['active', 'side', 'invalid'])
      // Of the way back nothing is foreseen: it was connected before.
      expect(foreseen).toEqual([below.hash, top.hash])
      expect(await test.accept(craftBlock(test.chain))).toBe('connected')
      await test.close()
    },
  )
})
