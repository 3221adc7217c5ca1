import { describe, expect, it } from 'vitest'
import type { KnownHeader } from '../../../../src/ledger/chain/header-index.js'
import {
  copyUnmined,
  highestKnown,
  knownLacking,
  replay,
  stateDigest,
  verifyChain,
  type VerifyStep,
} from '../../../../src/ledger/chain/replay-chain.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import type { Database } from '../../../../src/ledger/storage/database.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { meta, rangeOf, tables } from '../../../../src/ledger/storage/rows/tables.js'
import { Header } from '../../../../src/base/primitives/header.js'
import { StorageError } from '../../../../src/ledger/storage/failure.js'
import { craft, craftBlock, genesisCoin } from '../../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'
import { emptyChain, faultOf } from '../../../support/assert/row-invariants.js'
import { testAddress } from '../../../support/builders/spec.js'

async function busyChain(overrides?: Parameters<typeof TestChain.open>[0]): Promise<TestChain> {
  const test = await TestChain.open(overrides)
  const ada = holder()
  const created = await test.publish(ada.create(), ada.did)
  await test.send(await test.transfer(testAddress(30), 5_000_000n))
  await test.publish(ada.update(created), ada.did)
  await test.mine(2)
  return test
}

async function change(test: TestChain, write: (overlay: Overlay) => void): Promise<void> {
  const overlay = new Overlay(test.database)
  write(overlay)
  const { height, hash } = test.chain.tip.header
  await overlay.commit({ kind: 'pool', height, hash }, { sync: false })
}

describe('a replay', () => {
  it('makes the same state, with validators and without', async () => {
    for (const overrides of [undefined, oneValidator()]) {
      const test = await busyChain(overrides)
      expect(await faultOf(test)).toBe(undefined)
      const copy = await emptyChain(test)
      expect(await replay(test.database, copy)).toBe(undefined)
      expect(await stateDigest(copy.database)).toBe(await stateDigest(test.database))
    }
  })

  it('tells how far a verification is: rows, blocks, tables', async () => {
    const test = await busyChain()
    const steps: VerifyStep[] = []
    expect(await verifyChain(test.chain, await emptyChain(test), (step) => steps.push(step))).toBeUndefined()
    const { height } = test.chain.tip.header
    expect([...new Set(steps.map(({ stage }) => stage))]).toEqual(['rows', 'blocks', 'tables'])
    const blocks = steps.filter(({ stage }) => stage === 'blocks')
    expect(blocks).toEqual([{ stage: 'blocks', done: height, total: height }])
  })

  it('ends before a block that is missing or broken, and says why', async () => {
    const test = await busyChain()
    await change(test, (overlay) => overlay.del(tables.transaction.key(2, 1)))
    const copy = await emptyChain(test)
    expect(await replay(test.database, copy)).toMatchObject({ height: 2 })
    expect(copy.tip.header.height).toBe(1)
    await change(test, (overlay) => overlay.del(tables.active.key(1)))
    const gap = await replay(test.database, await emptyChain(test))
    expect(gap).toMatchObject({ height: 1, reason: expect.stringContaining('gone') as string })
    await change(test, (overlay) => overlay.put(tables.transaction.key(3, 0), Uint8Array.of(1, 2, 3)))
    const other = await busyChain()
    await change(other, (overlay) => {
      overlay.put(tables.header.key(other.chain.headers.activeHash(2) as Uint8Array), Uint8Array.of(1, 2))
    })
    expect(await replay(other.database, await emptyChain(other))).toMatchObject({ height: 2 })
  })

  it('finds one row that is wrong in each table that follows from the blocks', async () => {
    const coinKey = async ({ database }: TestChain) => (await database.keys(tables.coin.range()))[0] as Buffer
    const first = async ({ database }: TestChain, of: number) => (await database.keys(rangeOf(of)))[0] as Buffer
    const followers = [
      tables.location.number,
      tables.coin.number,
      tables.addressCoin.number,
      tables.balance.number,
      tables.history.number,
    ]
    for (const of of [...followers, tables.didHead.number, tables.didDocument.number]) {
      const test = await busyChain()
      const key = of === tables.coin.number ? await coinKey(test) : await first(test, of)
      await change(test, (overlay) => overlay.del(key))
      expect(await verifyChain(test.chain, await emptyChain(test)), `table ${of}`).toContain('wrong')
    }
    const test = await busyChain()
    const key = await coinKey(test)
    const coin = tables.coin.decode(test.database.get(key) as Buffer)
    await change(test, (overlay) => overlay.put(key, tables.coin.encode({ ...coin, value: coin.value + 1n })))
    expect(await verifyChain(test.chain, await emptyChain(test))).toContain('wrong')
    expect(await stateDigest(test.database)).not.toBe(await stateDigest((await busyChain()).database))
  })

  it('finds a wrong record of a header, of genesis and of the tip too', async () => {
    const test = await busyChain()
    const scratch = await emptyChain(test)
    expect(await verifyChain(test.chain, scratch)).toBeUndefined()
    for (const height of [0, 2, test.reader.height]) {
      const known = test.activeHeader(height)
      const key = tables.header.key(known.header.hash)
      const right = test.database.get(key) as Buffer
      const wrong = tables.header.encode({ ...tables.header.decode(right), size: known.size + 1 })
      await change(test, (overlay) => overlay.put(key, wrong))
      test.chain.headers.clear()
      expect(await verifyChain(test.chain, scratch), `height ${height}`).toBe('the header records are wrong')
      await change(test, (overlay) => overlay.put(key, right))
      test.chain.headers.clear()
    }
  })

  it('knows the greatest height that any row of a damaged chain still names', async () => {
    const test = await busyChain()
    const { height } = test.chain.tip.header
    const change = async (write: (overlay: Overlay) => void) => {
      const overlay = new Overlay(test.database)
      write(overlay)
      // Its own row of the journal is of a lower height.
      await overlay.commit({ kind: 'pool', height: 1, hash: test.chain.tip.header.hash }, { sync: false })
    }
    const below = (end: number, from: number) =>
      change((overlay) => {
        for (let at = from; at > end; at--) overlay.del(tables.active.key(at))
      })
    expect(await highestKnown(test.database)).toBe(height)
    await below(3, height)
    expect(await highestKnown(test.database)).toBe(height)
    await change((overlay) => overlay.put(meta.tip.key, Uint8Array.of(1)))
    expect(await highestKnown(test.database)).toBe(3)
    await change((overlay) => overlay.del(meta.tip.key))
    await below(2, 3)
    expect(await highestKnown(test.database)).toBe(2)
    await below(-1, 2)
    expect(await highestKnown(test.database)).toBe(1)
    const rowless = { get: () => undefined, rows: () => Promise.resolve([]) } as unknown as Database
    expect(await highestKnown(rowless)).toBe(undefined)
  })

  it('takes no refusal of the system for a loss, wherever it comes', async () => {
    const test = await busyChain()
    await test.send(await test.transfer(testAddress(30), 1n))
    const { header } = test.chain.tip
    await change(test, (overlay) => {
      const way = { from: header, to: header }
      overlay.put(meta.reorganisation.key, meta.reorganisation.encode(way))
      overlay.put(tables.leftBranch.key(7), tables.leftBranch.encode({ tip: header, forkHeight: 0 }))
    })
    const refusal = new StorageError('too many open files', 'environment')
    /** The database, of which one read is refused, and how many there were. */
    const refusing = (refused: number) => {
      const seen = { reads: 0 }
      const read = (name: 'get' | 'keys' | 'rows') => {
        const method = test.database[name].bind(test.database) as (...args: unknown[]) => unknown
        return (...args: unknown[]) => {
          if (seen.reads++ === refused) throw refusal
          return method(...args)
        }
      }
      return { seen, database: { get: read('get'), keys: read('keys'), rows: read('rows') } as unknown as Database }
    }
    const copy = await emptyChain(test)
    const jobs = [
      (database: Database) => highestKnown(database),
      async (database: Database) => knownLacking(database),
      (database: Database) => copyUnmined(database, copy),
      (database: Database) => emptyChain(test).then((made) => replay(database, made)),
    ]
    for (const job of jobs) {
      const whole = refusing(Infinity)
      await job(whole.database)
      expect(whole.seen.reads).toBeGreaterThan(0)
      for (let refused = 0; refused < whole.seen.reads; refused++) {
        await expect(job(refusing(refused).database), `read ${refused}`).rejects.toBe(refusal)
      }
    }
  })

  it('takes along what no block holds', async () => {
    const test = await busyChain()
    const pooled = await test.send(await test.transfer(testAddress(30), 1n))
    const coin = genesisCoin(test.chain, 1)
    const dropped = await test.send(craft(test.spec, [coin], [{ to: 1, value: 1n }], [11]))
    test.clock.time += 1000 * 60 * 60 * 24 * 7
    await test.mempool.expire()
    const kept = await test.send(craft(test.spec, [coin], [{ to: 2, value: 1n }], [11]))
    await change(test, (overlay) => overlay.put(meta.clock.key, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)))
    const copy = await emptyChain(test)
    await replay(test.database, copy)
    await copyUnmined(test.database, copy)
    expect(copy.database.get(tables.pool.key(kept.hash))).toBeDefined()
    expect(copy.database.get(tables.pool.key(pooled.hash))).toBe(undefined)
    for (const { hash } of [pooled, dropped]) {
      expect(copy.database.get(tables.dropped.key(hash))?.toString()).toContain('too long')
    }
    expect(copy.database.get(meta.clock.key)?.[0]).toBe(1)
  })
  it('takes along every branch that was left, but for those whose rows are gone or break a rule', async () => {
    const test = await TestChain.open()
    const genesis = test.chain.tip
    await test.mine(3)
    const side = async (parent = genesis) => {
      const block = craftBlock(test.chain, { parent })
      expect(await test.accept(block)).toBe('side')
      return test.chain.headers.known(block.header.hash)
    }
    const [gone, garbled, sound] = [await side(), await side(), await side()]
    const top = await side(sound)
    const row = (known: KnownHeader) => ({ tip: known.header, forkHeight: 0 })
    await change(test, (overlay) => {
      overlay.put(tables.header.key(gone.header.hash), Uint8Array.of(1, 2))
      overlay.put(tables.sideBody.key(garbled.header.hash), Uint8Array.of(1, 2))
      const way = { from: gone.header, to: garbled.header }
      overlay.put(meta.reorganisation.key, meta.reorganisation.encode(way))
      overlay.put(tables.leftBranch.key(7), Uint8Array.of(1))
      overlay.put(tables.leftBranch.key(8), tables.leftBranch.encode(row(top)))
    })
    const copy = await emptyChain(test)
    expect(await replay(test.database, copy)).toBe(undefined)
    const own = tables.leftBranch.encode(row(genesis))
    const target = new Overlay(copy.database)
    target.put(tables.leftBranch.key(1), own)
    await target.commit({ kind: 'pool', height: 3, hash: copy.tip.header.hash }, { sync: false })
    // The header of the one and the row of a branch could not be read.
    expect(await copyUnmined(test.database, copy)).toBe(2)
    const status = ({ header }: KnownHeader) => copy.headers.get(header.hash)?.status
    expect([gone, garbled, sound, top].map(status)).toEqual([undefined, undefined, 'side', 'side'])
    const rows = await copy.database.rows(tables.leftBranch.range())
    expect(rows.map(([, value]) => toHex(value))).toEqual([own, tables.leftBranch.encode(row(top))].map(toHex))
  })

  it('comes to an end where damaged headers lead to each other', async () => {
    const test = await TestChain.open()
    await test.mine(1)
    const [one, two] = [1, 2].map((fill) => new Uint8Array(32).fill(fill)) as [Uint8Array, Uint8Array]
    const record = tables.header.decode(test.database.get(tables.header.key(test.chain.tip.header.hash)) as Buffer)
    const on = (previous: Uint8Array) => {
      const header = new Header({ ...test.chain.tip.header, previous }).bytes
      return tables.header.encode({ ...record, header, status: 'side' })
    }
    await change(test, (overlay) => {
      overlay.put(tables.header.key(one), on(two))
      overlay.put(tables.header.key(two), on(one))
      overlay.put(tables.leftBranch.key(7), tables.leftBranch.encode({ tip: { hash: one, height: 1 }, forkHeight: 0 }))
    })
    expect(await copyUnmined(test.database, await emptyChain(test))).toBe(0)
  })
})
