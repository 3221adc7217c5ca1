import { afterEach, describe, expect, it } from 'vitest'
import { Anchors, type AnchorsOptions } from '../../../../src/answers/prover/anchors.js'
import { parseConfirm } from '../../../../src/base/primitives/confirm.js'
import type { Header } from '../../../../src/base/primitives/header.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { tables, type TipRow } from '../../../../src/ledger/storage/rows/tables.js'
import { oneValidator, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { bookOf } from '../../../support/builders/chain-book.js'

const opened: TestChain[] = []
afterEach(async () => {
  for (const chain of opened.splice(0)) await chain.close()
})

async function open(overrides = oneValidator()): Promise<TestChain> {
  const test = await TestChain.open(overrides)
  opened.push(test)
  return test
}

/** Anchors that count what they ask for confirms. */
function anchorsOf(test: TestChain, confirm?: AnchorsOptions['confirm']) {
  const asked: number[] = []
  const { database, spec } = test
  const stored = async (header: Header) => {
    asked.push(header.height)
    return confirm === undefined
      ? parseConfirm(database.get(tables.confirm.key(header.hash)) as Buffer)
      : confirm(header)
  }
  return { anchors: new Anchors({ database, spec, confirm: stored }), asked }
}

function at(test: TestChain, height: number): TipRow {
  return { height, hash: test.activeHeader(height).header.hash }
}

describe('anchors', () => {
  it.each([
    ['with validators', oneValidator()],
    ['without', withoutValidators],
  ])('lead from the coinbase to the header, on a chain %s', async (_, overrides) => {
    const test = await open(overrides)
    await test.mine(2)
    const book = await bookOf(test)
    expect(await anchorsOf(test).anchors.at(at(test, 2), 'recent')).toEqual(book.anchor(2))
  })

  it('are made once for all who ask, and kept', async () => {
    const test = await open()
    await test.mine()
    const { anchors, asked } = anchorsOf(test)
    const [one, other] = await Promise.all([anchors.at(at(test, 1), 'recent'), anchors.at(at(test, 1), 'recent')])
    expect(one).toBe(other)
    expect(await anchors.at(at(test, 1), 'old')).toBe(one)
    expect(asked).toEqual([1])
  })

  it('are none without a confirm, until there is one', async () => {
    const test = await open()
    const [block] = await test.mine()
    let held = false
    const confirm = parseConfirm(test.confirmFor(block!) as Uint8Array)
    const { anchors } = anchorsOf(test, async () => (held ? confirm : undefined))
    expect(await anchors.at(at(test, 1), 'recent')).toBeUndefined()
    held = true
    expect(await anchors.at(at(test, 1), 'recent')).toHaveProperty('confirm')
  })

  it('are refused as busy where too many wait, of old blocks beside those of recent ones', async () => {
    const test = await open()
    await test.mine(70)
    let goOn = () => {}
    const held = new Promise<void>((resolve) => (goOn = resolve))
    const { anchors } = anchorsOf(test, async (header) => {
      await held
      return parseConfirm(test.database.get(tables.confirm.key(header.hash)) as Buffer)
    })
    // One is being made, and 64 wait.
    const asked = Array.from({ length: 65 }, (_, i) => anchors.at(at(test, i + 1), 'old'))
    await expect(anchors.at(at(test, 66), 'old')).rejects.toMatchObject({ code: 'busy' })
    const recent = anchors.at(at(test, 70), 'recent')
    goOn()
    expect(await recent).toBeDefined()
    expect((await Promise.all(asked)).every((anchor) => anchor !== undefined)).toBe(true)
    // What was refused is made at the next question.
    expect(await anchors.at(at(test, 66), 'old')).toBeDefined()
  })

  it('are damage where the transactions are not those of the header', async () => {
    const test = await open()
    await test.mine(2)
    const overlay = new Overlay(test.database)
    overlay.put(tables.transaction.key(1, 0), test.database.get(tables.transaction.key(2, 0)) as Buffer)
    const { height, hash } = test.chain.tip.header
    await overlay.commit({ kind: 'pool', height, hash }, { sync: false })
    await expect(anchorsOf(test).anchors.at(at(test, 1), 'recent')).rejects.toThrow(
      'the transactions of height 1 do not have the merkle root of their header',
    )
  })
})
