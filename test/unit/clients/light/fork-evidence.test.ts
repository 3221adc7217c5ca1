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
    const longer = (padding: number) => {
      const one = lightWorld().book
      one.make({ padding })
      return one
    }
    const operations = [alice.update(versions[2] as string)]
    const updated = lightWorld({ plan: (height) => (height === tip ? { operations } : {}) }).book
    const above = Array.from({ length: 20 }, (_, padding) => longer(padding)).find(
      (one) => toHex(one.tip.hash) < toHex(updated.tip.hash),
    )
    const evidence = await evidenceOf(history(above as typeof book, tip + 1), history(updated, tip))
    expect(evidence?.headers).toEqual([updated, above].map((one) => toHex((one as typeof book).tip.bytes)))
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
