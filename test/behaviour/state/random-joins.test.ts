import { expect, it } from 'vitest'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import { readBlockBytes } from '../../../src/ledger/chain/read-body.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { comparable, joinedChain, passBlocks, wholeChain } from '../../support/builders/joined-chain.js'
import { Crowd, random } from '../../support/builders/random-chain.js'
import { rounds } from '../../support/process/thorough.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)
const interval = 300
const state = interval - 288

/** Has people act in most blocks, up to a height. */
async function actUntil(test: TestChain, height: number, roll: (sides: number) => number): Promise<void> {
  const crowd = new Crowd(roll)
  crowd.look(test)
  while (test.reader.height < height) {
    if (roll(3) === 0) await test.mineEmpty(Math.min(height - test.reader.height, 1 + roll(30)))
    else {
      for (let acts = roll(5); acts > 0; acts--) await crowd.act(test)
      test.clock.time += 1000
      await test.mine()
    }
  }
}

/** Gives blocks of a chain from a height on to others; what each says of them. */
async function give(from: TestChain, to: readonly Chain[], first: number): Promise<string[][]> {
  const said: string[][] = []
  for (let height = first; height <= from.reader.height; height++) {
    const known = from.activeHeader(height)
    const bytes = await readBlockBytes(from.database, known)
    const confirm = from.database.get(tables.confirm.key(known.header.hash))
    const outcome = (one: Chain) =>
      one.acceptBlock(bytes, confirm).catch((error: unknown) => {
        if (error instanceof RuleError) return error.code
        throw error
      })
    const all: string[] = []
    for (const one of to) all.push(await outcome(one))
    said.push(all)
  }
  return said
}

it.each(Array.from({ length: rounds(1, 200) }, (_, i) => seed + i))(
  'rows of a node that joined are those of one that verified everything, 300 blocks later too (DIDLEDGER_SEED=%i)',
  async (one) => {
    const roll = random(one)
    const isWork = one % 2 === 0
    const overrides = {
      ...(isWork ? withoutValidators : { ...oneValidator(), producer: 'sponsor' as const }),
      coinInterval: interval,
    }
    const test = await TestChain.open(overrides, { signatures: new SignatureCache() })
    await actUntil(test, interval + roll(20), roll)
    const joined = await joinedChain(test, { leavesAtOnce: 1 + roll(8), bytes: 500 + roll(5000) })
    const whole = await wholeChain(test)
    await passBlocks(test, whole, [1, state])
    const both = [joined, whole]
    await give(test, both, state + 1)
    expect(await comparable(joined.database, state)).toEqual(await comparable(whole.database, state))
    for (let turn = 0; turn < 3; turn++) {
      const tip = test.reader.height
      await actUntil(test, tip + 50 + roll(50), roll)
      for (const [a, b] of await give(test, both, tip + 1)) expect(a).toBe(b)
      if (!isWork) continue
      // A branch with more work takes over, from far below or from a few blocks.
      const fork = test.reader.height - 1 - roll(turn === 0 ? 280 : 30)
      const branch = await TestChain.open(overrides, { signatures: new SignatureCache() })
      await passBlocks(test, branch.chain, [1, Math.max(state + 1, fork)])
      branch.clock.time = test.clock.time + 1
      await actUntil(branch, test.reader.height + 1, roll)
      const first = Math.max(state + 1, fork) + 1
      for (const [a, b, c] of await give(branch, [...both, test.chain], first)) expect([a, b]).toEqual([b, c])
      expect(joined.tip.header.id).toBe(branch.chain.tip.header.id)
      await branch.close()
    }
    expect(await comparable(joined.database, state)).toEqual(await comparable(whole.database, state))
    for (const chain of both) await chain.close().finally(() => chain.database.close())
    await test.close()
  },
)
