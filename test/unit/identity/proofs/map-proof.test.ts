import { describe, expect, it } from 'vitest'
import { decodeBase64url, encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { finish } from '../../../../src/base/primitives/steps.js'
import { emptyHistory, entryBytes, extendHistory, valueOfHistory } from '../../../../src/identity/proofs/history.js'
import type { MapProofJson } from '../../../../src/identity/did/state-proof.js'
import { credentialOrder, didOrder, type HistoryOrder } from '../../../../src/identity/proofs/history-order.js'
import { checkMapProof, mapProofJson } from '../../../../src/identity/proofs/map-proof.js'
import { didMapKey, didRoot, type Leaf } from '../../../../src/identity/proofs/map-tree.js'
import { ProofError } from '../../../../src/identity/proofs/proof-failure.js'
import { changeMapSteps, inKeyOrder, mapRootIn } from '../../../../src/ledger/storage/rows/map/change-map.js'
import { readWay } from '../../../../src/ledger/storage/rows/map/read-way.js'
import { memoryPages } from '../../../support/builders/map-pages.js'

const genesis = sha256('genesis')
const did = (n: number) => `did:ledger:${n}`

/** Entries of a DID with so many operations. */
function entriesOf(n: number, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) =>
    entryBytes({
      operation: i === 0 ? 1 : 2,
      height: 10 + i,
      time: 1000 + i,
      txid: sha256(`transaction ${n} ${i}`),
      payloadHash: sha256(`payload ${n} ${i}`),
    }),
  )
}

function leafOf(n: number): Leaf {
  const entries = entriesOf(n, 3)
  const digest = entries.reduce(extendHistory, emptyHistory)
  return { key: didMapKey(did(n)), value: valueOfHistory({ last: 2, count: 3, digest }) }
}

const pages = memoryPages()
finish(changeMapSteps(pages, inKeyOrder(Array.from({ length: 40 }, (_, n) => leafOf(n)))))
const question = (n: number) => ({
  key: didMapKey(did(n)),
  order: didOrder,
  genesis,
  didRoot: didRoot(genesis, mapRootIn(pages)),
  height: 20,
})

async function proofOf(n: number, given = 3): Promise<MapProofJson> {
  const { siblings, end } = await readWay(async (place) => pages.get(place), didMapKey(did(n)))
  if (n >= 40) return mapProofJson({ siblings, ...(end && { leaf: end }) })
  const entries = entriesOf(n, 3)
  const before = entries.slice(0, 3 - given)
  const base = before.length === 0 ? undefined : before.reduce(extendHistory, emptyHistory)
  return mapProofJson({ siblings, history: { state: 1, count: 3, entries: entries.slice(3 - given), base } })
}

function failureOf(sent: unknown, n: number, changes: object = {}): string {
  try {
    checkMapProof(sent, { ...question(n), ...changes })
    return 'ok'
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    return error.failure
  }
}

describe('a proof of the map', () => {
  it('shows the last entries of a history, or that there is none', async () => {
    for (const given of [1, 2, 3]) {
      const proved = checkMapProof(JSON.parse(JSON.stringify(await proofOf(7, given))), question(7))
      expect(proved).toMatchObject({ state: 1, count: 3 })
      expect(proved?.entries.map(({ height }) => height)).toEqual([10, 11, 12].slice(3 - given))
    }
    for (let n = 40; n < 80; n++) expect(checkMapProof(await proofOf(n), question(n))).toBeUndefined()
  })

  it('is refused with any bit of it changed', async () => {
    for (const n of [3, 4, 41, 44]) {
      const proof = await proofOf(n, 2)
      const texts: [string, (text: string) => unknown][] = [['path', (path) => ({ ...proof, path })]]
      if (proof.leaf !== undefined) texts.push(['leaf', (leaf) => ({ ...proof, leaf })])
      const { history } = proof
      if (history !== undefined) texts.push(['entries', (entries) => ({ ...proof, history: { ...history, entries } })])
      for (const [name, put] of texts) {
        const text = (name === 'entries' ? history?.entries : proof[name as 'path' | 'leaf']) as string
        const bytes = decodeBase64url(text) as Uint8Array
        for (let bit = 0; bit < bytes.length * 8; bit++) {
          const changed = Uint8Array.from(bytes)
          changed[bit >> 3] = (changed[bit >> 3] as number) ^ (0x80 >> (bit & 7))
          expect(failureOf(put(encodeBase64url(changed)), n)).not.toBe('ok')
        }
        for (const other of [text.slice(0, -1), `${text}A`, `${text}=`, `${text} `, '', text.replace(/./, '+')]) {
          expect(failureOf(put(other), n)).not.toBe('ok')
        }
      }
      for (const depth of [proof.depth - 1, proof.depth + 1, -1, 1.5, 257, NaN, Infinity]) {
        expect(failureOf({ ...proof, depth }, n)).not.toBe('ok')
      }
    }
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a list', []],
    ['a text', 'proof'],
    ['no members', {}],
    ['a depth as text', { depth: '0', path: '' }],
    ['a path that is a number', { depth: 0, path: 1 }],
    ['a leaf that is null', { depth: 0, path: '', leaf: null }],
    ['a history that is a list', { depth: 0, path: '', history: [] }],
    ['a history without entries', { depth: 0, path: '', history: { state: 1, count: 1 } }],
  ])('of another form is refused: %s', (_, sent) => {
    expect(failureOf(sent, 3)).toBe('form')
  })

  it('has operations that can follow each other', async () => {
    expect(failureOf(await proofOf(5), 5, { height: 12 })).toBe('ok')
    expect(failureOf(await proofOf(5), 5, { height: 11 })).toBe('history-order')
    expect(failureOf(await proofOf(5), 5, { order: credentialOrder })).toBe('history-order')
    const wrong = [[2], [1, 1], [1, 3, 2], [1, 4], [1, 2, 1], [3], [0], [6]]
    const right = [[1], [1, 2], [1, 3], [1, 2, 2, 3]]
    const onCredential = { wrong: [[4, 4], [5, 4], [4, 5, 4], [1], [5, 5]], right: [[4], [4, 5], [5]] }
    const check = (operations: readonly number[], order: HistoryOrder, times = [1, 2, 3, 4]) => {
      const entries = operations.map((operation, i) =>
        entryBytes({
          operation: operation as 1,
          height: 3,
          time: times[i] as number,
          txid: sha256(`${i}`),
          payloadHash: genesis,
        }),
      )
      const digest = entries.reduce(extendHistory, emptyHistory)
      const last = operations.at(-1) as 1
      const key = sha256('key')
      const alone = memoryPages()
      const value = valueOfHistory({ last, count: entries.length, digest })
      const root = didRoot(genesis, finish(changeMapSteps(alone, [{ key, value }])))
      const state = [3, 5].includes(last) ? 2 : 1
      const history = { state, count: entries.length, entries, base: undefined }
      return failureOf(mapProofJson({ siblings: [], history }), 0, { key, order, didRoot: root })
    }
    for (const operations of right) expect(check(operations, didOrder)).toBe('ok')
    for (const operations of wrong) expect(check(operations, didOrder)).toBe('history-order')
    for (const operations of onCredential.right) expect(check(operations, credentialOrder)).toBe('ok')
    for (const operations of onCredential.wrong) expect(check(operations, credentialOrder)).toBe('history-order')
    expect(check([1, 2], didOrder, [2, 2])).toBe('ok')
    expect(check([1, 2], didOrder, [2, 1])).toBe('history-order')
  })
})
