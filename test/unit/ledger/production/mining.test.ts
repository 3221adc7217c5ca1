import { describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { addressOf, type ProgramHash } from '../../../../src/base/primitives/address.js'
import { networkHashRate } from '../../../../src/ledger/production/hash-rate.js'
import { Mining } from '../../../../src/ledger/production/mining.js'
import { systemEnv } from '../../../../src/base/runtime/process-env.js'
import { miningOf } from '../../../support/client/api.js'
import { personHash } from '../../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../../support/builders/chain.js'
import { Deadline } from '../../../support/process/patience.js'
import { testAddress } from '../../../support/builders/spec.js'

const payTo = personHash(20)
const impossible = { code: 'mining-impossible' }

/** Timers that run when they are told to. */
function handTimers() {
  const waiting = new Set<() => void>()
  return {
    timers: {
      after: (_: number, callback: () => void) => {
        waiting.add(callback)
        return () => waiting.delete(callback)
      },
    },
    waiting,
    fire: () => [...waiting].forEach((callback) => (waiting.delete(callback), callback())),
  }
}

async function reach(test: TestChain, height: number, fire: () => void): Promise<void> {
  const deadline = new Deadline()
  while (test.reader.height < height) {
    expect(deadline.over).toBe(false)
    fire()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('mining on request', () => {
  it('makes so many blocks for whom it is told, else for the address of the node', async () => {
    const test = await TestChain.open()
    const mining = miningOf(test, { payTo })
    const blocks = [...(await mining.mine(2)), ...(await mining.mine(1, personHash(21)))]
    expect(blocks.map(({ hash }) => hash)).toEqual([1, 2, 3].map((height) => test.reader.headerAt(height)?.header.id))
    const payees = blocks.map(({ transactions }) => transactions[0]?.outputs[0]?.programHash)
    expect(payees).toEqual([payTo, payTo, personHash(21)])
  })

  it('needs somebody to pay and a count within bounds, and does one call at a time', async () => {
    const test = await TestChain.open()
    const mining = miningOf(test)
    await expect(mining.mine(1)).rejects.toMatchObject(impossible)
    for (const count of [0, -1, 1.5, 1001, NaN]) {
      await expect(mining.mine(count, payTo)).rejects.toMatchObject({ code: 'request-parameter' })
    }
    const first = mining.mine(3, payTo)
    await expect(mining.mine(1, payTo)).rejects.toMatchObject({ code: 'busy' })
    expect(await first).toHaveLength(3)
    expect(await mining.mine(1, payTo)).toHaveLength(1)
  })

  it('ends when the node stops', async () => {
    const test = await TestChain.open()
    const mining = miningOf(test)
    const going = mining.mine(1000, payTo).then(
      () => 'done',
      (error: { code: string }) => error.code,
    )
    await mining.close()
    expect(await going).toBe('busy')
    const { height } = test.reader
    expect(height).toBeLessThan(1000)
    mining.start(payTo)
    expect(mining.active).toBe(false)
  })
})

describe('mining that is switched on and off', () => {
  it('makes one block after another while it is on', async () => {
    const test = await TestChain.open()
    const { timers, waiting, fire } = handTimers()
    const mining = miningOf(test, { timers })
    await expect(mining.toggle(true)).rejects.toMatchObject(impossible)
    expect(mining.active).toBe(false)
    await mining.toggle(true, payTo)
    expect(mining.active).toBe(true)
    await reach(test, 2, fire)
    await mining.toggle(true, personHash(21))
    expect(mining.active).toBe(true)
    const { height } = test.reader
    await reach(test, height + 1, fire)
    const { transactions } = await test.reader.block(test.chain.tip)
    expect(addressOf(transactions[0]?.outputs[0]?.programHash as ProgramHash)).toBe(testAddress(21))
    await mining.toggle(false)
    expect(mining.active).toBe(false)
    expect(waiting.size).toBe(0)
    await mining.toggle(false)
    await mining.toggle(true, payTo)
    await mining.close()
    expect(waiting.size).toBe(0)
    expect(mining.active).toBe(false)
  })
})

describe('a chain with validators', () => {
  const open = () => TestChain.open({ ...oneValidator(), producer: 'sponsor' })

  it('is mined on request by the node that has their key', async () => {
    const test = await open()
    const mining = miningOf(test)
    const [block] = await mining.mine(1)
    expect(test.chain.tip.header.id).toBe(block?.hash)
    expect(block?.transactions[0]?.outputs[0]?.programHash).toEqual(personHash(0))
    expect((await mining.template(payTo)).header.height).toBe(2)
    await expect(mining.toggle(true, payTo)).rejects.toMatchObject(impossible)
    expect(mining.active).toBe(false)
    expect(() => mining.start(payTo)).toThrow(UserError)
  })

  it('gives no work on a node that has not', async () => {
    const test = await open()
    const { chain, mempool, clock, log } = test
    const mining = new Mining({ ...systemEnv(log), chain, mempool, clock })
    await expect(mining.template(payTo)).rejects.toMatchObject(impossible)
    await expect(mining.mine(1, payTo)).rejects.toMatchObject(impossible)
    await expect(mining.toggle(true, payTo)).rejects.toMatchObject(impossible)
  })
})

describe('the rate of hashes', () => {
  it('is the work of the last blocks over their time', async () => {
    const test = await TestChain.open()
    expect(networkHashRate(test.chain)).toBe(0n)
    const first = test.spec.time + 10
    for (let i = 0; i < 3; i++) await test.mine(1, { time: first + 10 * i })
    // Each block of this target stands for two hashes.
    expect(networkHashRate(test.chain)).toBe(6n / 30n)
    await test.mine(147, { time: test.spec.time })
    const { header } = test.chain.tip
    const from = test.reader.headerAt(header.height - 120)?.header.time as number
    expect(networkHashRate(test.chain)).toBe(240n / BigInt(header.time - from))
  })
})
