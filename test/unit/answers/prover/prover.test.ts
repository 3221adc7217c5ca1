import { afterEach, describe, expect, it } from 'vitest'
import { chainProver } from '../../../../src/node/chain-prover.js'
import { maxHeaders } from '../../../../src/identity/proofs/work.js'
import { parseConfirm } from '../../../../src/base/primitives/confirm.js'
import type { Header } from '../../../../src/base/primitives/header.js'
import { maxAnchorCoinbase } from '../../../../src/identity/proofs/anchor-coinbase.js'
import { bytesOf } from '../../../../src/identity/proofs/read-json.js'
import { Prover } from '../../../../src/answers/prover/prover.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { coinbasePayload, craftBlock } from '../../../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { bookOf } from '../../../support/builders/chain-book.js'
import { changing, keysOf } from '../../../support/builders/light-scene.js'
import type { SpecOverrides } from '../../../support/builders/spec.js'

const opened: TestChain[] = []
afterEach(async () => {
  for (const chain of opened.splice(0)) await chain.close()
})

async function open(overrides: SpecOverrides = { validators: keysOf(1) }): Promise<TestChain> {
  const test = await TestChain.open(overrides)
  opened.push(test)
  return test
}

const tipOf = ({ chain }: TestChain) => chain.tip.header
const unavailable = (said: string) => ({ code: 'proof-unavailable', message: expect.stringContaining(said) as string })

/** A prover that has no confirm of one block that holds. */
function without(test: TestChain, height: number): Prover {
  const { database, spec, chain } = test
  const confirm = async ({ height: at, hash }: Header) =>
    at === height ? undefined : parseConfirm(database.get(tables.confirm.key(hash)) as Buffer)
  return new Prover({ database, spec, genesis: chain.genesis.header.hash, confirm })
}

describe('the block as of which is proved', () => {
  it('is the tip, or six blocks below on a chain without validators', async () => {
    for (const [overrides, depth] of [
      [{ validators: keysOf(1) }, 0],
      [withoutValidators, 6],
    ] as const) {
      const test = await open(overrides)
      await test.mine(9)
      expect(await test.prover.block(tipOf(test), {})).toMatchObject({ height: 9 - depth })
      expect(await test.prover.block(tipOf(test), { depth: 2 })).toMatchObject({ height: 7 })
      expect(await test.prover.block(tipOf(test), { height: 4 })).toMatchObject({ height: 4 })
      await expect(test.prover.block(tipOf(test), { height: 10 })).rejects.toMatchObject(
        unavailable('this node proves blocks 1 to 9, not the one of height 10'),
      )
    }
  })

  it('is none in place of another: a block without a confirm that holds is refused by name', async () => {
    const test = await open()
    await test.mine(3)
    const prover = without(test, 3)
    const refusal = unavailable('this node has no confirm of block 3 that holds')
    await expect(prover.block(tipOf(test), {})).rejects.toMatchObject(refusal)
    await expect(prover.block(tipOf(test), { height: 3 })).rejects.toMatchObject(refusal)
    await expect(prover.change(tipOf(test), {})).rejects.toMatchObject(refusal)
    expect(await prover.block(tipOf(test), { depth: 1 })).toMatchObject({ height: 2 })
    await test.mine()
    expect(await prover.block(tipOf(test), {})).toMatchObject({ height: 4 })
  })

  it('is none where the chain is too low', async () => {
    const test = await open(withoutValidators)
    await test.mine(6)
    await expect(test.prover.block(tipOf(test), {})).rejects.toMatchObject(
      unavailable('this node proves blocks 1 to 6, not the one 6 blocks below the tip'),
    )
  })

  it('may have the largest coinbase that the chain allows', async () => {
    const test = await open()
    await test.mine(2)
    await test.accept(craftBlock(test.chain, { coinbase: coinbasePayload(test.chain, maxAnchorCoinbase) }))
    const { height, anchor } = await test.prover.change(tipOf(test), {})
    expect([height, bytesOf(anchor.coinbase, maxAnchorCoinbase)?.length]).toEqual([4, maxAnchorCoinbase])
  })
})

describe('changes of validators', () => {
  it('end before a block without a confirm that holds, and are refused where it is the first', async () => {
    const test = await open(changing)
    // The validators change at 4 and at 8.
    await test.mine(9)
    const [first] = (await bookOf(test)).changes(0).changes
    const prover = without(test, 7)
    expect(await prover.changes(tipOf(test), 0)).toMatchObject({ changes: [first], more: false })
    await expect(prover.changes(tipOf(test), 4)).rejects.toMatchObject(
      unavailable('this node has no confirm of block 7, which names other validators, that holds'),
    )
    expect(await prover.changes(tipOf(test), 8)).toMatchObject({ changes: [], more: false })
  })
})

describe('headers', () => {
  it('are those asked for, as far as there are any', async () => {
    const test = await open(withoutValidators)
    await test.mine(5)
    const book = await bookOf(test)
    expect(await test.prover.headers(2, 2)).toEqual(book.headers(2, 2))
    expect(await test.prover.headers(4, maxHeaders + 1)).toEqual(book.headers(4, 2))
    expect(await test.prover.headers(6, 1)).toEqual([])
  })
})

describe('a chain whose blocks commit to nothing', () => {
  it('has neither proofs nor a trust root', async () => {
    const test = await open({ ...withoutValidators, didRoot: undefined })
    await test.mine()
    const prover = chainProver(test.chain)
    await expect(prover.block(tipOf(test), {})).rejects.toMatchObject(unavailable('none ever will'))
    await expect(prover.changes(tipOf(test), 0)).rejects.toMatchObject(unavailable('none ever will'))
    expect(() => prover.trust()).toThrow('no block of this chain commits to the state of all DIDs')
  })
})
