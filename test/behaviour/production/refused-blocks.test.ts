import { describe, expect, it } from 'vitest'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import type { Verifier } from '../../../src/base/crypto/verifier.js'
import { brokenRule } from '../../../src/base/errors/broken-rule.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { Mempool } from '../../../src/ledger/mempool/mempool.js'
import { auxPowBytes } from '../../../src/base/primitives/auxpow.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { AuxWork } from '../../../src/ledger/production/aux-work.js'
import { Candidates } from '../../../src/ledger/production/candidates.js'
import { Producer } from '../../../src/ledger/production/producer.js'
import { ProposalSource } from '../../../src/ledger/production/proposal-source.js'
import { untilTaken } from '../../../src/ledger/production/retry-refused-block.js'
import {
  craft,
  craftBlock,
  fieldsOf,
  genesisCoin,
  outputOf,
  personHash,
  solved,
} from '../../support/builders/blocks.js'
import { oneValidator, quietLog, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { seededRandom } from '../../support/builders/seeded-bytes.js'

/** Takes every signature for good: the defect of a pool that lets in what its chain refuses. */
const credulous: Verifier = { verifyAll: () => Promise.resolve(-1), close: () => Promise.resolve() }
const coin = 1_000_000n

/** A chain, and a pool on top of it that verifies nothing. */
async function world(overrides = withoutValidators) {
  const test = await TestChain.open(overrides)
  const { chain, clock, spec } = test
  const log = quietLog()
  const warnings: Record<string, unknown>[] = []
  log.warn = (fields) => void warnings.push(fields)
  const signatures = new SignatureCache(0)
  const mempool = await Mempool.open({ chain, clock, log, signatures, verifier: credulous })
  const outputs = Array.from({ length: 12 }, (_, i) => ({ to: 40 + i, value: coin }))
  const fan = craft(spec, [genesisCoin(chain)], outputs, [10])
  await test.accept(craftBlock(chain, { transactions: [fan] }))
  const send = async (transaction: Transaction) => mempool.accept(transaction.bytes, { local: true })
  /** Sends a payment, its signature broken if it is `bad`. */
  const pay = (index: number, bad: boolean): Promise<Transaction> => {
    const good = craft(spec, [outputOf(fan, index)], [{ to: 30, value: coin - 10_000n }], [40 + index])
    return send(bad ? broken(good) : good)
  }
  const parts = { chain, mempool, payTo: personHash(20), random: seededRandom(1), clock, log }
  return { test, chain, mempool, log, warnings, pay, send, parts, time: () => Math.floor(clock.time / 1000) }
}

function broken(transaction: Transaction): Transaction {
  const [program] = fieldsOf(transaction).programs
  if (program === undefined) throw new Error('no program')
  const parameter = Uint8Array.from(program.parameter)
  parameter[20] = (parameter[20] as number) ^ 1
  return new Transaction({ ...fieldsOf(transaction), programs: [{ ...program, parameter }] })
}

const idsOf = (block: Block | undefined) => block?.transactions.slice(1).map(({ txid }) => txid)

describe('a block of our own that is refused', () => {
  it('is made again at once without what broke the rule and what builds on it', async () => {
    const { parts, mempool, pay, send, test, time, warnings } = await world()
    const good = await pay(0, false)
    const bad = await pay(1, true)
    const child = await send(craft(test.spec, [outputOf(bad)], [{ to: 31, value: 900_000n }], [30]))
    const block = await new Producer({ ...parts, time }).produce()
    expect(idsOf(block)).toEqual([good.txid])
    expect(test.chain.tip.header.id).toBe(block?.hash)
    for (const { hash } of [bad, child]) expect(mempool.droppedReason(hash)).toContain('tx-signature')
    expect(mempool.refusedBlocks.count).toBe(1)
    expect(mempool.refusedBlocks.reason).toBe(undefined)
    expect(warnings).toMatchObject([{ code: 'tx-signature', transaction: bad.txid, height: 2 }])
    await expect(send(bad)).rejects.toMatchObject({ code: 'pool-unmineable' })
  })

  it('comes without any transaction after so many refusals', async () => {
    const { parts, mempool, pay, time } = await world()
    for (let i = 0; i < 12; i++) await pay(i, i > 0)
    const producer = new Producer({ ...parts, time })
    expect(idsOf(await producer.produce())).toEqual([])
    expect(mempool.refusedBlocks.count).toBe(8)
    expect(mempool.size).toBe(4)
    expect(idsOf(await producer.produce())).toHaveLength(1)
    expect(mempool.size).toBe(0)
  })

  it('comes without any transaction where nothing says which one is the cause', async () => {
    const { parts, mempool, pay, time, test } = await world()
    await pay(0, false)
    const made: number[] = []
    const offer = async (block: Block) => {
      made.push(block.transactions.length)
      if (block.transactions.length > 1) throw brokenRule('block-size')
      expect(mempool.refusedBlocks.reason).toContain('block-size')
      await test.accept(block)
    }
    await new Producer({ ...parts, time, offer }).produce()
    expect(made).toEqual([2, 1])
    expect(mempool.size).toBe(1)
  })

  it('is given up where one without transactions is refused as well', async () => {
    const { parts } = await world()
    let tries = 0
    const make = async (select: (time: number) => Promise<unknown>) => {
      await select(0)
      tries++
      throw brokenRule('coinbase-value')
    }
    await expect(untilTaken(parts, make)).rejects.toMatchObject({ code: 'coinbase-value' })
    expect(tries).toBe(2)
  })

  it('is no refusal when another came first', async () => {
    const { parts, mempool } = await world()
    for (const code of ['block-stale', 'template-stale', 'busy', 'block-time-future'] as const) {
      await expect(untilTaken(parts, () => Promise.reject(brokenRule(code)))).rejects.toMatchObject({ code })
    }
    expect(mempool.refusedBlocks.count).toBe(0)
  })

  it('takes its templates for outside miners with it', async () => {
    const { parts, mempool, pay, time } = await world()
    const good = await pay(0, false)
    const bad = await pay(1, true)
    const work = new AuxWork({ ...parts, time })
    const first = await work.template(personHash(21))
    expect(idsOf(first)).toContain(bad.txid)
    const submit = ({ header }: Block) => work.submit(header.hash, auxPowBytes(solved(header)))
    await expect(submit(first)).rejects.toMatchObject({ code: 'tx-signature' })
    await expect(submit(first)).rejects.toMatchObject({ code: 'template-stale' })
    const second = await work.template(personHash(21))
    expect(idsOf(second)).toEqual([good.txid])
    await submit(second)
    expect(mempool.size).toBe(0)
  })

  it('of another part takes them with it as well, but not the work that is done for them', async () => {
    const { parts, mempool, pay, time, test } = await world()
    const good = await pay(0, false)
    const bad = await pay(1, true)
    const work = new AuxWork({ ...parts, time })
    const first = await work.template(personHash(21))
    expect(idsOf(first)?.sort()).toEqual([good.txid, bad.txid].sort())
    mempool.refusedBlocks.note(new RuleError('tx-signature', '', { transaction: bad.txid }), 2)
    const second = await work.template(personHash(21))
    expect(idsOf(second)).toEqual([good.txid])
    expect(await work.template(personHash(21))).toBe(second)
    // One for which nothing is to blame takes nothing out: the next template is a new one all the same.
    mempool.refusedBlocks.note(brokenRule('block-size'), 2)
    const third = await work.template(personHash(21))
    expect(third).not.toBe(second)
    expect(idsOf(third)).toEqual([good.txid])
    await work.submit(second.header.hash, auxPowBytes(solved(second.header)))
    expect(test.chain.tip.header.id).toBe(second.hash)
  })

  it('takes the template with it that is under way at the time', async () => {
    const { parts, mempool, pay, time } = await world()
    const good = await pay(0, false)
    const bad = await pay(1, true)
    const offer = () => Promise.reject(new RuleError('tx-signature', '', { transaction: bad.txid }))
    const work = new AuxWork({ ...parts, time, offer })
    const first = await work.template(personHash(21))
    expect(idsOf(first)).toContain(bad.txid)
    parts.clock.time += 60_001
    // The pool is read, and the selection waits for its signatures, when the refusal comes.
    const { checks } = mempool
    const allHold = checks.allHold.bind(checks)
    let begun = () => {}
    let release = () => {}
    const waiting = new Promise<void>((resolve) => (begun = resolve))
    const held = new Promise<void>((resolve) => (release = resolve))
    checks.allHold = async (...args) => {
      begun()
      await held
      return allHold(...args)
    }
    const underWay = [22, 23].map((person) => work.template(personHash(person)))
    await waiting
    await expect(work.submit(first.header.hash, auxPowBytes(solved(first.header)))).rejects.toThrow()
    release()
    for (const template of await Promise.all(underWay)) expect(idsOf(template)).toEqual([good.txid])
    expect(idsOf(await work.template(personHash(24)))).toEqual([good.txid])
  })

  it('refuses work where blocks are refused faster than a template is made, and gives it afterwards', async () => {
    const { parts, mempool, pay, time } = await world()
    await pay(0, false)
    const work = new AuxWork({ ...parts, time })
    let builds = 0
    let refusing = true
    const { additions } = mempool
    // Each selection begins with this question; the refusal comes while it goes on.
    Object.defineProperty(mempool, 'additions', {
      get: () => {
        builds++
        if (refusing) queueMicrotask(() => mempool.refusedBlocks.note(brokenRule('block-size'), 2))
        return additions
      },
    })
    await expect(work.template(personHash(21))).rejects.toMatchObject({ code: 'busy' })
    expect(builds).toBe(10)
    refusing = false
    expect(idsOf(await work.template(personHash(21)))).toHaveLength(1)
  })

  it('gives work for an empty one where nothing says which transaction is the cause', async () => {
    const { parts, pay, test, time } = await world()
    await pay(0, false)
    const offer = async (block: Block) => {
      if (block.transactions.length > 1) throw brokenRule('block-size')
      await test.accept(block)
    }
    const work = new AuxWork({ ...parts, time, offer })
    const submit = ({ header }: Block) => work.submit(header.hash, auxPowBytes(solved(header)))
    await expect(submit(await work.template(personHash(21)))).rejects.toMatchObject({ code: 'block-size' })
    await submit(await work.template(personHash(21)))
    expect(test.reader.height).toBe(2)
  })

  it('is replaced in the same view of a sponsor', async () => {
    const { parts, pay, warnings } = await world({ ...oneValidator(), producer: 'sponsor' })
    const { chain, clock } = parts
    const good = await pay(0, false)
    await pay(1, true)
    const timers = { after: () => () => {} }
    const ownBlock = new ProposalSource({ ...parts, timers, candidates: new Candidates(chain, clock) })
    const search = { view: 0, patience: 1000, stop: () => false, end: new Promise<undefined>(() => {}), late: () => {} }
    expect(idsOf(await ownBlock.find(search))).toEqual([good.txid])
    expect(warnings).toHaveLength(1)
  })

  it('names the transaction, whichever rule it breaks', async () => {
    const { test, pay } = await world()
    const good = await pay(0, false)
    const { spec } = test
    const [input] = good.inputs
    if (input === undefined) throw new Error('no input')
    const unknown = craft(spec, [{ txid: new Uint8Array(32), index: 3 }], [{ to: 30, value: 1n }], [40])
    const insane = craft(spec, [input], [{ to: 30, value: 1n }], [40], { payloadVersion: 1 })
    const rival = craft(spec, [input], [{ to: 31, value: 1n }], [40])
    for (const [code, transactions, culprit] of [
      ['tx-input-unknown', [good, unknown], unknown],
      ['tx-payload-version', [good, insane], insane],
      ['block-double-spend', [good, rival], rival],
      ['tx-signature', [broken(good)], broken(good)],
    ] as const) {
      const refused = test.accept(craftBlock(test.chain, { transactions, fees: 0n }))
      await expect(refused).rejects.toMatchObject({ code, transaction: culprit.txid })
    }
  })
})
