import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { DidState, IssuerKey } from '../../../../src/identity/did/state.js'
import { defaultDidLimits } from '../../../../src/identity/did/did-rules.js'
import { Dependents } from '../../../../src/ledger/mempool/dependents.js'
import type { PoolEntry } from '../../../../src/ledger/mempool/pool-entry.js'
import { fixedLimits } from '../../../../src/base/primitives/spec.js'
import { finish } from '../../../../src/base/primitives/steps.js'
import { runs } from '../../../support/builders/arbitraries.js'
import { recordEntry } from '../../../support/builders/pool-entries.js'

const most = defaultDidLimits.payloadBytes
/** Bytes of documents that an operation may make a node read: three of the longest. */
const limit = 3 * most

/** An issuer: the bytes of its document and its keys by id; none of a deactivated one. */
interface Issuer {
  size: number
  expiresAt?: number
  keys: Map<string, string> | undefined
}

const size = fc.constantFrom(1, most / 2, most / 2, most, most)
const key = fc.constantFrom('x', 'x', 'x', 'x', 'y')
const keys = fc.record({ '#1': key, '#2': key }, { requiredKeys: ['#1'] })
const expiresAt = fc.constantFrom(3, 6, 9)
const document = fc.record({ size, expiresAt, keys: fc.option(keys, { nil: undefined, freq: 9 }) })
const plan = fc.array(
  fc.oneof(
    fc.record({
      add: fc.subarray(['a#1', 'a#2', 'b#1', 'b#2', 'c#1', 'c#2']),
      ownBytes: size,
      /** Those keys of which count until the document of their DID expires. */
      signing: fc.subarray(['a', 'b']),
      credential: fc.option(fc.constantFrom('c1', 'c2'), { nil: undefined }),
    }),
    fc.record({ remove: fc.nat(20) }),
    fc.record({
      change: fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c'), document), { selector: ([did]) => did }),
      said: fc.subarray(['c1', 'c2'], { maxLength: 1 }),
      later: fc.nat(2),
    }),
  ),
  { maxLength: 40 },
)

function stateOf(id: string, { size, keys, expiresAt = 0 }: Issuer): DidState {
  const document = { id, expiresAt, authentication: keys, authorization: new Map(), credentials: new Set() }
  const status = keys === undefined ? 'deactivated' : 'valid'
  return { status, operationCount: 1, documentPayloadSize: size, lastTxid: '', documentTxid: '', document } as never
}

const numbers = (entries: Iterable<PoolEntry>) => Array.from(entries, ({ arrival }) => arrival).sort((a, b) => a - b)

describe('the facts on which pooled operations rest', () => {
  it('are forgotten with the last operation that rests on them', () => {
    const maps = new Set<Map<unknown, unknown>>()
    const put = Reflect.get(Map.prototype, 'set')
    const spy = vi.spyOn(Map.prototype, 'set').mockImplementation(function (this: Map<unknown, unknown>, ...row) {
      maps.add(this)
      return put.call(this, ...row)
    })
    try {
      const dependents = new Dependents()
      const operations = ['c1', 'c1', undefined].map((id, number) => {
        const issuerKeys = ['a', 'b'].map((issuer) => ({
          ...{ issuer, id: '#1', credential: '', key: 'x', payloadSize: 1 },
          ...(issuer === 'b' && { expiresAt: 7 }),
        }))
        const did = { id: 'me', issuerKeys, ownBytes: 1, ...(id && { credential: { id, signer: 'me' } }) }
        return { ...recordEntry(number, [], 1n), did } as unknown as PoolEntry
      })
      for (const entry of operations) dependents.add(entry)
      expect([...maps].some(({ size }) => size > 0)).toBe(true)
      const touched: PoolEntry[] = []
      const changed = { dids: ['a'], credentials: ['c1'] }
      const issuer = () => undefined
      dependents.remove(operations[0] as PoolEntry)
      finish(dependents.touchedSteps(changed, { time: 0, issuer }, (entry) => touched.push(entry)))
      expect(numbers(new Set(touched))).toEqual([1, 2])
      for (const entry of operations.slice(1)) dependents.remove(entry)
      expect([...maps].map(({ size }) => size)).toEqual([...maps].map(() => 0))
    } finally {
      spy.mockRestore()
    }
  })

  it('touch exactly those operations of which one does not hold any more', () => {
    fc.assert(
      fc.property(plan, (steps) => {
        const dependents = new Dependents(limit / fixedLimits.documentBytes)
        const issuers = new Map<string, Issuer>()
        for (const did of ['a', 'b', 'c'])
          issuers.set(did, { size: 1, expiresAt: 6, keys: new Map(Object.entries({ '#1': 'x', '#2': 'x' })) })
        const entries: PoolEntry[] = []
        let time = 0
        const holds = ({ did }: PoolEntry) => {
          const { issuerKeys = [], ownBytes = 0 } = did ?? {}
          const documents = new Set(issuerKeys.map(({ issuer }) => issuer))
          const bytes = [...documents].reduce((sum, issuer) => sum + (issuers.get(issuer)?.size ?? 0), ownBytes)
          const keyHolds = ({ issuer, id, key, expiresAt }: IssuerKey) => {
            const now = issuers.get(issuer)
            const counts = expiresAt === undefined || (expiresAt > time && (now?.expiresAt ?? 0) >= expiresAt)
            return now?.keys?.get(id) === key && counts
          }
          return bytes <= limit && issuerKeys.every(keyHolds)
        }
        const drop = (entry: PoolEntry) => {
          entries.splice(entries.indexOf(entry), 1)
          dependents.remove(entry)
        }
        for (const [number, step] of steps.entries()) {
          if ('add' in step) {
            const issuerKeys = step.add.flatMap((name): IssuerKey[] => {
              const [issuer, id] = [name.slice(0, 1), name.slice(1)]
              const { size = 0, keys, expiresAt = 0 } = issuers.get(issuer) ?? {}
              const key = keys?.get(id)
              const counts = step.signing.includes(issuer) ? { expiresAt } : {}
              return key === undefined ? [] : [{ issuer, id, credential: '', key, payloadSize: size, ...counts }]
            })
            const credential = step.credential && { credential: { id: step.credential, signer: 'me' } }
            const did = { id: 'me', state: {}, issuerKeys, ownBytes: step.ownBytes, ...credential }
            const entry = { ...recordEntry(number, [], 1n), did } as unknown as PoolEntry
            if (!holds(entry)) continue
            entries.push(entry)
            dependents.add(entry)
          } else if ('remove' in step) {
            const entry = entries[step.remove]
            if (entry !== undefined) drop(entry)
          } else {
            time += step.later
            for (const [did, { size, keys, expiresAt }] of step.change)
              issuers.set(did, { size, expiresAt, keys: keys && new Map(Object.entries(keys)) })
            const issuer = (did: string) => stateOf(did, issuers.get(did) as Issuer)
            const touched = new Set<PoolEntry>()
            const changed = { dids: step.change.map(([did]) => did), credentials: step.said }
            finish(dependents.touchedSteps(changed, { time, issuer }, (entry) => touched.add(entry)))
            const said = ({ did }: PoolEntry) => did?.credential !== undefined && step.said.includes(did.credential.id)
            const wanted = entries.filter((entry) => said(entry) || !holds(entry))
            expect(numbers(touched)).toEqual(numbers(wanted))
            for (const entry of touched) drop(entry)
          }
        }
      }),
      runs,
    )
  })

  it('are the bytes of all documents too, of an operation that rests on so many that they may be too long', () => {
    const dependents = new Dependents(limit / fixedLimits.documentBytes)
    const entryOf = (number: number, issuers: readonly string[]) => {
      const issuerKeys = issuers.map((issuer) => ({
        issuer,
        id: '#1',
        credential: '',
        key: 'x',
        payloadSize: most / 2,
      }))
      const did = { id: 'me', state: {}, issuerKeys, ownBytes: most }
      return { ...recordEntry(number, [], 1n), did } as unknown as PoolEntry
    }
    const [gone, wide, narrow] = [entryOf(0, ['a', 'b', 'c']), entryOf(1, ['a', 'b', 'c']), entryOf(2, ['a', 'b'])]
    for (const entry of [gone, wide, narrow]) dependents.add(entry)
    dependents.remove(gone)
    const grow = (dids: readonly string[], size: number) => {
      const touched: PoolEntry[] = []
      const issuer = (did: string) => stateOf(did, { size, keys: new Map([['#1', 'x']]) })
      finish(dependents.touchedSteps({ dids, credentials: [] }, { time: 0, issuer }, (entry) => touched.push(entry)))
      return numbers(touched)
    }
    expect(grow(['a'], most)).toEqual([])
    expect(grow(['b'], most / 2 + 1)).toEqual([1])
    expect(grow(['b'], most / 2)).toEqual([])
  })

  it('are looked at in steps, however many rest on one', () => {
    const dependents = new Dependents()
    const key = { issuer: 'a', id: '#1', credential: '', key: 'x', payloadSize: 1 }
    for (let number = 0; number < 1000; number++) {
      const did = { id: 'me', state: {}, issuerKeys: [key], ownBytes: 0 }
      dependents.add({ ...recordEntry(number, [], 1n), did } as unknown as PoolEntry)
    }
    const states = { time: 0, issuer: () => stateOf('a', { size: 1, keys: new Map() }) }
    let [touched, most] = [0, 0]
    const steps = dependents.touchedSteps({ dids: ['a'], credentials: [] }, states, () => touched++)
    for (let before = 0; steps.next().done !== true; before = touched) most = Math.max(most, touched - before)
    expect([touched, most <= 64]).toEqual([1000, true])
  })
})
