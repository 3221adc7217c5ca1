import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AskResolver, askResolver } from '../../../../src/clients/client/ask-resolver.js'
import { RuleError, UserError } from '../../../../src/base/errors/rule-error.js'
import { txid } from '../../../support/builders/did.js'
import { rounds } from '../../../support/process/thorough.js'

const did = 'did:ledger:x'

/** Operation number `n` of a branch: the create is 0. */
function operation(n: number, branch = 0, payload = 'e30') {
  const header = n === 0 ? { operation: 'create' } : { operation: 'update', previousTxid: idOf(n - 1, branch) }
  const proof = { verificationMethod: '#primary', signature: 'x' }
  return { txid: idOf(n, branch), timestamp: '2026-01-01T00:00:00Z', operation: { header, payload, proof } }
}
/** The same of which a node has the hashes alone. */
function hashesOf(n: number) {
  const name = n === 0 ? 'create' : 'update'
  return { txid: idOf(n), timestamp: '2026-01-01T00:00:00Z', height: n, operation: name, payloadHash: idOf(n) }
}
const idOf = (n: number, branch = 0) => txid(branch * 1_000_000 + n)

/** A node whose history has `state.count` operations; its pages have at most `page`. */
function nodeWith(
  state: { count: number; branch?: number; gone?: number },
  page = 1000,
  before: () => void = () => {},
) {
  const asked: Readonly<Record<string, unknown>>[] = []
  const ask: AskResolver = async (params) => {
    if (asked.length > 0) before()
    asked.push(params)
    const { skip, limit, context } = params as { skip: number; limit: number; context?: boolean }
    const { count, branch = 0, gone = 0 } = state
    const length = Math.max(0, Math.min(limit, page, count - skip))
    const numbers = Array.from({ length }, (_, i) => count - 1 - skip - i)
    const transaction = numbers.filter((n) => n >= gone).map((n) => operation(n, branch))
    const givenUp = numbers.filter((n) => n < gone).map((n) => hashesOf(n))
    const moment = { txid: idOf(0), timestamp: '2026-01-01T00:00:00Z' }
    const at = numbers
      .filter((n) => n >= gone)
      .map((n) => ({ height: n, blockHash: idOf(n), confirmations: count - n }))
    const tip = { height: count - 1, blockHash: idOf(count - 1), time: 5, count, expires: moment.timestamp }
    return {
      ...{ did, status: 0, transaction, total: count, start: skip, count: length },
      ...(givenUp.length > 0 && { givenUp }),
      ...(context === true ? { context: { ...tip, created: moment, at } } : {}),
    }
  }
  return { ask, asked }
}

describe('a whole history', () => {
  it('is put together from parts, and is that of the first one while operations are added', async () => {
    const sizes = fc.record({ count: fc.integer({ min: 1, max: 60 }), page: fc.integer({ min: 5, max: 30 }) })
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(fc.nat(4)), fc.boolean(), async ({ count, page }, added, context) => {
        const state = { count }
        const { ask } = nodeWith(state, page, () => (state.count += added.pop() ?? 0))
        const found = await askResolver(ask, did, { all: true, ...(context ? { context } : {}) })
        expect(Object.keys(found).sort()).toEqual([...(context ? ['context'] : []), 'did', 'status', 'transaction'])
        expect(found.transaction?.map((one) => one.txid)).toEqual(
          Array.from({ length: count }, (_, i) => idOf(count - 1 - i)),
        )
        expect(found.context?.at.map((one) => one.confirmations)).toEqual(
          context ? Array.from({ length: count }, (_, i) => i + 1) : undefined,
        )
      }),
      { numRuns: rounds(80, 2000) },
    )
  })

  it('has what a node gave up of it by its hashes, while operations are added', async () => {
    const sizes = fc.record({ count: fc.integer({ min: 2, max: 60 }), page: fc.integer({ min: 5, max: 30 }) })
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(), fc.array(fc.nat(4)), async ({ count, page }, some, added) => {
        const state = { count, gone: 1 + (some % (count - 1)) }
        const { ask } = nodeWith(state, page, () => (state.count += added.pop() ?? 0))
        const found = await askResolver(ask, did, { all: true, context: true })
        expect(found.transaction?.map((one) => one.txid)).toEqual(
          Array.from({ length: count - state.gone }, (_, i) => idOf(count - 1 - i)),
        )
        expect(found.givenUp).toEqual(Array.from({ length: state.gone }, (_, i) => hashesOf(state.gone - 1 - i)))
        expect(found.context?.at).toHaveLength(count - state.gone)
      }),
      { numRuns: rounds(80, 2000) },
    )
  })

  it('is read again after a reorganisation, and given up when those do not end', async () => {
    const state = { count: 20, branch: 0 }
    const once = [1]
    const shorter = nodeWith(state, 6, () => {
      if (once.pop() !== undefined) Object.assign(state, { count: 15, branch: 1 })
    })
    const found = await askResolver(shorter.ask, did, { all: true })
    expect(found.transaction?.map((one) => one.txid)).toEqual(Array.from({ length: 15 }, (_, i) => idOf(14 - i, 1)))
    const same = { count: 20, branch: 0 }
    const changing = nodeWith(same, 6, () => same.branch++)
    await expect(askResolver(changing.ask, did, { all: true })).rejects.toMatchObject({ code: 'busy' })
  })

  it('of an unknown DID, or of a node that knows no parts, takes one request', async () => {
    const answers = [
      { did, status: 3 },
      { did, status: 2, transaction: [operation(1), operation(0)] },
    ]
    for (const answer of answers) {
      const asked: unknown[] = []
      const ask: AskResolver = async (params) => (asked.push(params), answer)
      expect(await askResolver(ask, did, { all: true })).toEqual(answer)
      expect(asked).toEqual([{ did, all: true, skip: 0, limit: 1000 }])
    }
  })

  it('is no endless work for a node that lies', async () => {
    const { ask } = nodeWith({ count: 10 }, 5)
    const empty: AskResolver = async (params) => ({ ...((await ask(params)) as object), total: 1000 })
    await expect(askResolver(empty, did, { all: true })).rejects.toThrow(UserError)
    const huge: AskResolver = async ({ skip }) => ({
      ...{ did, status: 0, total: 1e9, start: skip, count: 1 },
      transaction: [operation(1e9 - 1 - (skip as number), 0, 'x'.repeat(8 << 20))],
    })
    await expect(askResolver(huge, did, { all: true })).rejects.toThrow(/more than .* bytes/)
  })
})

describe('other answers', () => {
  it('take one request with the options as they are', async () => {
    for (const options of [{}, { versionHeight: 3 }, { all: true, skip: 1 }, { all: true, limit: 2, context: true }]) {
      const { ask, asked } = nodeWith({ count: 4 })
      await askResolver(
        (params) => ask({ skip: 0, limit: 1, ...params }).finally(() => asked.splice(0, 1, params)),
        did,
        options,
      )
      expect(asked).toEqual([{ did, all: false, ...options }])
    }
  })

  it('are refused as the node refuses them', async () => {
    const refusal = new RuleError('history-size', 'too long')
    await expect(askResolver(() => Promise.reject(refusal), did, { all: true })).rejects.toBe(refusal)
  })
})
