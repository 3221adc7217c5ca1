import { describe, expect, it } from 'vitest'
import { formatDate } from '../../../../src/identity/did/date.js'
import { displayHash } from '../../../../src/base/primitives/bytes.js'
import { fullDid, versionIn } from '../../../../src/identity/proofs/did-question.js'
import type { ProvedHistory } from '../../../../src/identity/proofs/map-proof.js'
import { didMapKey } from '../../../../src/identity/proofs/map-tree.js'
import { lightWorld } from '../../../support/builders/light-world.js'

const { book, alice } = lightWorld()

describe('a question about a DID', () => {
  it('names it in full, or by its identifier alone', () => {
    expect(fullDid('abc')).toBe('did:ledger:abc')
    expect(fullDid('did:ledger:abc')).toBe('did:ledger:abc')
    const identifier = alice.did.slice('did:ledger:'.length)
    expect([fullDid(identifier), fullDid(alice.did)]).toEqual([alice.did, alice.did])
  })

  it('is refused about a text that can be no DID, whose absence could be proved', () => {
    const mistyped = alice.did.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'))
    const texts = [mistyped, 'did:other:abc', 'did:web:example.org', 'did:ledger:', '', `${alice.did}#key`, 'a b']
    for (const text of texts) expect(() => fullDid(text), text).toThrow('no DID of a chain')
  })

  it('names a version by its txid, or as the last one not later than a time', () => {
    const entries = book.history(didMapKey(alice.did), book.tip.height)
    const history: ProvedHistory = { state: 1, count: entries.length, entries, base: new Uint8Array(32) }
    const byTime = (time: number) => versionIn(history, { did: alice.did, versionTime: formatDate(time) })
    for (const [place, { txid, time }] of entries.entries()) {
      expect(versionIn(history, { did: alice.did, versionId: displayHash(txid) })).toBe(place)
      expect([byTime(time - 1), byTime(time), byTime(time + 1)]).toEqual([place - 1, place, place])
    }
    expect(versionIn(history, { did: alice.did, versionId: '00'.repeat(32) })).toBe(-1)
  })
})
