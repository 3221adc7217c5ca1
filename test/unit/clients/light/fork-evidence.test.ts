import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { Contradiction, type Side } from '../../../../src/clients/light/contradiction.js'
import { provenFork, verifyEvidence } from '../../../../src/clients/light/fork-evidence.js'
import { Signatures } from '../../../../src/clients/light/signatures.js'
import { readAnchor } from '../../../../src/identity/proofs/anchor.js'
import { didMapKey } from '../../../../src/identity/proofs/map-tree.js'
import { readTrust } from '../../../../src/identity/proofs/trust-root.js'
import { failureOf, lightWorld } from '../../../support/builders/light-world.js'

const { book } = lightWorld()
const tip = book.tip.height
const doubled = lightWorld({ plan: (height) => (height === tip ? { padding: 3 } : {}) }).book
const believed = { trust: readTrust(book.trust()), checkpoint: undefined, signatures: new Signatures() }

const side = (of: typeof book, height = tip, isConfirmed = true): Side => {
  const { block, confirm } = of.page(height)
  return { block: { header: block.header, ...(isConfirmed && confirm && { confirm }) } }
}
const evidenceOf = (one: Side, other: Side) => provenFork(new Contradiction('for the test', [one, other]), believed, [])

describe('evidence of a fork', () => {
  it('is the same whoever told first: by height, then by hash', async () => {
    const evidence = await evidenceOf(side(book), side(doubled))
    expect(await evidenceOf(side(doubled), side(book))).toEqual(evidence)
    const ids = [book.tip, doubled.tip].sort((a, b) => (toHex(a.hash) < toHex(b.hash) ? -1 : 1))
    expect(evidence?.headers).toEqual(ids.map(({ bytes }) => toHex(bytes)))
    expect(await verifyEvidence(evidence, believed)).toMatchObject({ heights: [tip, tip] })
  })

  it('is of two histories in the order of their blocks, whatever their hashes', async () => {
    const { alice, versions } = lightWorld()
    const history = (of: typeof book, height: number): Side => ({
      block: { ...side(of, height).block, anchor: readAnchor(of.anchor(height), true) },
      leaf: { name: { did: alice.did }, history: undefined, map: of.map(didMapKey(alice.did), height) },
    })
    const operations = [alice.update(versions[2] as string)]
    const pair = (padding: number) => {
      const above = lightWorld().book
      above.make({ padding })
      return { above, updated: lightWorld({ plan: (height) => (height === tip ? { operations, padding } : {}) }).book }
    }
    // The higher block has the smaller hash in one pair of two.
    let [padding, found] = [0, pair(0)]
    while (toHex(found.above.tip.hash) >= toHex(found.updated.tip.hash)) found = pair(++padding)
    const { above, updated } = found
    const evidence = await evidenceOf(history(above, tip + 1), history(updated, tip))
    expect(evidence?.headers).toEqual([updated, above].map((one) => toHex(one.tip.bytes)))
  })

  it('is of this chain, and of its format', async () => {
    const evidence = await evidenceOf(side(book), side(doubled))
    const of = (changes: object) => failureOf(verifyEvidence({ ...evidence, ...changes }, believed))
    expect(await of({ format: 'didledger/bundle/1' })).toBe('form')
    expect(await of({ chain: '00'.repeat(32) })).toBe('chain')
    expect(await of({ chain: undefined })).toBe('form')
  })

  it('is none where a block has no confirm, whichever of them it is', async () => {
    expect(await evidenceOf(side(book, tip, false), side(doubled))).toBeUndefined()
    expect(await evidenceOf(side(book), side(doubled, tip, false))).toBeUndefined()
    expect(await evidenceOf(side(book, tip, false), side(doubled, tip, false))).toBeUndefined()
  })
})
