import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayHash, fromUtf8, utf8 } from '../../../../src/base/primitives/bytes.js'
import { readWitnessSecret, type WitnessSigner } from '../../../../src/clients/witness/witness-signer.js'
import { anchorJson, committedBlock, headerOf, readAnchor } from '../../../../src/identity/proofs/anchor.js'
import { readNote, signerKeyText } from '../../../../src/identity/proofs/witness-note.js'
import { runs } from '../../../support/builders/arbitraries.js'
import { lightWorld } from '../../../support/builders/light-world.js'
import { branchOf, freshSigns, signerOf, witnessSecret } from '../../../support/builders/witness-world.js'

const { book } = lightWorld()
/** The same chain up to block 9, and others above. */
const other = branchOf(
  book,
  9,
  Array.from({ length: 6 }, () => ({ padding: 3 })),
)
const secret = witnessSecret('witness.example/w1')

function headIn(of: typeof book, height: number) {
  const anchor = readAnchor(of.anchor(height, true), true)
  return { ...committedBlock(anchor, headerOf(anchor), true), anchor: anchorJson(anchor) }
}

/** Signs the head of a height of a book, with the block that this book has below it. */
function sign(signer: WitnessSigner, of: typeof book, height: number) {
  const { last } = signer
  const ancestor = last && last.height <= of.tip.height ? of.page(last.height).block.header.hash : undefined
  return signer.sign(headIn(of, height), ancestor)
}

describe('a witness', () => {
  it('signs heads that follow, and leaves out those at or below the last one', async () => {
    const signer = await signerOf(book, secret)
    expect((await sign(signer, book, 3))?.anchor.header).toBe(book.anchor(3).header)
    expect(await sign(signer, book, 3)).toBeUndefined()
    expect(await sign(signer, book, 2)).toBeUndefined()
    expect(await sign(signer, book, 7)).toBeDefined()
    expect([signer.last?.height, signer.alarm]).toEqual([7, undefined])
  })

  it('raises an alarm at a head that does not follow, at another of the same height, and at one whose ancestor is not shown', async () => {
    for (const [of, height] of [
      [other, 12],
      [other, 11],
    ] as const) {
      const alarms: string[] = []
      const signer = await signerOf(book, secret, { onAlarm: (text) => alarms.push(text) })
      await sign(signer, book, 11)
      expect(await sign(signer, of, height)).toBeUndefined()
      expect(alarms).toEqual([signer.alarm])
      expect(signer.alarm).toContain(displayHash(other.page(11).block.header.hash))
      expect(await sign(signer, book, 13)).toBeUndefined()
    }
    const blind = await signerOf(book, secret)
    await sign(blind, book, 4)
    expect(await blind.sign(headIn(book, 6), undefined)).toBeUndefined()
    expect(blind.alarm).toContain('does not follow')
  })

  it('has its state on disk before a signature leaves, and signs nothing more if that fails', async () => {
    const store = freshSigns(secret)
    const signer = await signerOf(book, secret, { store })
    await sign(signer, book, 3)
    expect(store.saves).toBe(1)
    store.failing = true
    expect(await sign(signer, book, 4)).toBeUndefined()
    expect(signer.alarm).toContain('no space left on device')
    expect(JSON.stringify(signer.heads.shown())).not.toContain('didledger/x')
    expect((signer.heads.shown(4) as { heads: unknown[] }).heads).toEqual([])
    store.failing = false
    expect(await sign(signer, book, 5)).toBeUndefined()
  })

  it('continues after a restart where it stopped, and shows the last head again', async () => {
    const store = freshSigns(secret)
    const before = await signerOf(book, secret, { store })
    await sign(before, book, 11)
    const after = await signerOf(book, secret, { store })
    expect(after.heads.shown(11)).toEqual(before.heads.shown(11))
    expect(await sign(after, other, 12)).toBeUndefined()
    expect(after.alarm).toBeDefined()
  })

  it('refuses a state that is missing, damaged, of another key or of another chain', async () => {
    const { store: used } = { store: freshSigns(secret) }
    await sign(await signerOf(book, secret, { store: used }), book, 3)
    const refused = async (bytes: Uint8Array | undefined, of = book, key = secret) => {
      const store = freshSigns(secret)
      store.bytes = bytes
      return signerOf(of, key, { store }).then(
        () => 'taken',
        (error: Error) => error.message,
      )
    }
    const text = utf8(used.bytes as Uint8Array) as string
    expect(await refused(used.bytes)).toBe('taken')
    expect(await refused(undefined)).toMatch(/is missing/)
    expect(await refused(fromUtf8(text.slice(0, -20)))).toMatch(/cannot be used/)
    expect(await refused(fromUtf8(text.replace('"note":"', '"note":"x')))).toMatch(/cannot be used/)
    expect(await refused(used.bytes, book, witnessSecret('witness.example/w2'))).toMatch(/another key/)
    expect(await refused(used.bytes, lightWorld({ genesis: 'else' }).book)).toMatch(/another chain/)
  })

  it('never signs two blocks of a height nor goes back, whatever it is shown, in whatever order, with restarts', async () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 15 }), fc.boolean()), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(steps, async (shown) => {
        const store = freshSigns(secret)
        let signer = await signerOf(book, secret, { store })
        const signed: { height: number; hash: string }[] = []
        for (const [isOther, height, restarts] of shown) {
          if (restarts) signer = await signerOf(book, secret, { store })
          const head = await sign(signer, isOther ? other : book, height)
          if (head === undefined) continue
          const note = readNote(head.note)
          signed.push({ height: note.height, hash: displayHash(note.hash) })
        }
        expect(signed.map(({ height }) => height)).toEqual(
          [...new Set(signed.map(({ height }) => height))].sort((a, b) => a - b),
        )
        const chains = [book, other].filter((of) =>
          signed.every(({ height, hash }) => displayHash(of.page(height).block.header.hash) === hash),
        )
        expect(chains.length).toBeGreaterThan(0)
      }),
      runs,
    )
  })

  it('reads its private key, and shows nothing of one that is none', () => {
    const text = signerKeyText(secret.key, secret.seed)
    expect(readWitnessSecret(`${text}\n`, 'the key').key).toEqual(secret.key)
    const wrong = text.replace('w1', 'w2')
    for (const one of [wrong, text.slice(0, -8), text.replace('PRIVATE', 'PUBLIC'), 'secret-text', '']) {
      expect(() => readWitnessSecret(one, 'the key')).toThrow(
        /^the key is no private key of a witness: (?!.*secret-text)/,
      )
    }
  })
})
