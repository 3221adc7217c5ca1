import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type OrphanLimits, orphanLimits, Orphans } from '../../../../src/ledger/mempool/orphans.js'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import { type Hash, sha256 } from '../../../../src/base/primitives/hash.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { fieldsOf } from '../../../support/builders/blocks.js'

const hashOf = (number: number): Hash => sha256(`parent ${number}`)

/** A transaction of about `size` bytes that is like no other. */
function transaction(number: number, size = 100): Transaction {
  return new Transaction({
    version: 0,
    payloadVersion: 0,
    payload: { type: 2 },
    attributes: [{ usage: 0x81, data: new Uint8Array(size) }],
    inputs: [],
    outputs: [],
    lockTime: number,
    programs: [],
  })
}

function keeper(limits: Partial<OrphanLimits> = {}) {
  const clock = { time: 1_000_000, now: () => clock.time }
  return { clock, orphans: new Orphans(clock, { ...orphanLimits, ...limits }) }
}

const ids = (orphans: readonly { readonly transaction: Transaction }[]) =>
  orphans.map(({ transaction }) => transaction.lockTime)

describe('orphans', () => {
  it('come out with their parent, oldest first, and once', () => {
    const { orphans } = keeper()
    orphans.add(transaction(1), 1, [hashOf(1)])
    orphans.add(transaction(2), 1, [hashOf(2), hashOf(1)])
    orphans.add(transaction(3), 2, [hashOf(2)])
    expect(orphans.has(transaction(2).digest)).toBe(true)
    expect(ids(orphans.takeChildren(hashOf(1)))).toEqual([1, 2])
    expect(orphans.has(transaction(2).digest)).toBe(false)
    expect(orphans.takeChildren(hashOf(1))).toEqual([])
    expect(ids(orphans.takeAll())).toEqual([3])
    expect([orphans.size, orphans.bytes]).toEqual([0, 0])
  })

  it('are kept by digest: a copy with other programs stands beside the first', () => {
    const { orphans } = keeper()
    const first = transaction(1)
    const copy = new Transaction({
      ...fieldsOf(first),
      programs: [{ code: Uint8Array.of(1), parameter: new Uint8Array() }],
    })
    expect(copy.txid).toBe(first.txid)
    expect([orphans.add(first, 1, []), orphans.add(copy, 2, []), orphans.add(first, 2, [])]).toEqual([true, true, true])
    expect(orphans.size).toBe(2)
  })

  it('leave room: the oldest of a sender, then those of whoever has most here', () => {
    const { orphans } = keeper({ count: 5, ofSender: 3 })
    for (let i = 1; i <= 4; i++) orphans.add(transaction(i), 1, [])
    orphans.add(transaction(5), 2, [])
    orphans.add(transaction(6), 3, [])
    expect(orphans.size).toBe(5)
    orphans.add(transaction(7), 3, [])
    expect(ids(orphans.takeAll())).toEqual([3, 4, 5, 6, 7])
  })

  it('refuse what is too large, waits for too many, or waited too long', () => {
    const { orphans, clock } = keeper({ size: 1000, parents: 2, age: 500 })
    expect(orphans.add(transaction(1, 1000), 1, [])).toBe(false)
    expect(orphans.add(transaction(2), 1, [hashOf(1), hashOf(2), hashOf(3)])).toBe(false)
    expect(orphans.add(transaction(3), 1, [], clock.time - 500)).toBe(false)
    expect(orphans.add(transaction(4), 1, [hashOf(1)], clock.time - 499)).toBe(true)
    clock.time += 1
    expect(orphans.takeAll()).toEqual([])
    expect(orphans.size).toBe(0)
  })

  it('go with their sender', () => {
    const { orphans } = keeper()
    orphans.add(transaction(1), 1, [])
    orphans.add(transaction(2), 2, [])
    orphans.forget(1)
    expect(ids(orphans.takeAll())).toEqual([2])
  })

  it('stay within their limits, whatever comes', () => {
    const limits = { count: 6, bytes: 2000, ofSender: 3, size: 800, parents: 2, age: 100 }
    const addition = fc.record({
      number: fc.nat(20),
      size: fc.nat(900),
      sender: fc.nat(3),
      parents: fc.array(fc.nat(5), { maxLength: 3 }),
    })
    const step = fc.oneof(addition, fc.record({ parent: fc.nat(5) }), fc.record({ forget: fc.nat(3) }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { orphans, clock } = keeper(limits)
        const senders = new Map<string, number>()
        for (const one of steps) {
          clock.time++
          if ('parent' in one) orphans.takeChildren(hashOf(one.parent))
          else if ('forget' in one) orphans.forget(one.forget)
          else {
            const tx = transaction(one.number, one.size)
            if (!orphans.has(tx.digest)) senders.set(mapKey(tx.digest), one.sender)
            orphans.add(tx, one.sender, one.parents.map(hashOf))
          }
          expect(orphans.size).toBeLessThanOrEqual(limits.count)
          expect(orphans.bytes).toBeLessThanOrEqual(limits.bytes)
        }
        const bytes = orphans.bytes
        const left = orphans.takeAll()
        expect(left.reduce((sum, { transaction: { bytes } }) => sum + bytes.length, 0)).toBe(bytes)
        for (let sender = 0; sender <= 3; sender++) {
          expect(left.filter((orphan) => orphan.sender === sender).length).toBeLessThanOrEqual(limits.ofSender)
        }
        for (const { transaction: tx, sender } of left) expect(senders.get(mapKey(tx.digest))).toBe(sender)
      }),
      { numRuns: 1000 },
    )
  })
})
