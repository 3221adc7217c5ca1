import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ed25519PublicKey, ed25519Signer } from '../../../../src/base/crypto/ed25519.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { Signatures } from '../../../../src/clients/light/signatures.js'
import * as notes from '../../../../src/identity/proofs/witness-note.js'
import { ProofError } from '../../../../src/identity/proofs/proof-failure.js'
import { runs } from '../../../support/builders/arbitraries.js'

const head: notes.ChainHead = { genesis: sha256('g'), height: 7, didRoot: sha256('r'), hash: sha256('b') }
const signatures = new Signatures()

function witness(name: string, seed = sha256(name)) {
  const key = notes.witnessKey(name, ed25519PublicKey(seed))
  const over = (of: notes.ChainHead, time = 1_780_000_000) =>
    notes.cosignatureLine(key, time, ed25519Signer(seed)(notes.cosignedMessage(of, time)))
  return { key, over }
}

const [one, two, three] = ['w.example/1', 'w.example/2', 'w.example/3'].map((name) => witness(name)) as [
  ReturnType<typeof witness>,
  ReturnType<typeof witness>,
  ReturnType<typeof witness>,
]
const keys = [one.key, two.key]

const checked = (sent: unknown, needed = 1, of = head) =>
  signatures.settle(notes.checkCosignatures(of, sent, { keys, needed })).then(
    (found) => found.map(({ key }) => key.name),
    (error: unknown) => (error instanceof ProofError ? error.failure : Promise.reject(error as Error)),
  )

const failureOf = (read: () => unknown) => {
  try {
    return read()
  } catch (error) {
    return error instanceof ProofError ? error.failure : error
  }
}

describe('cosignatures of a head', () => {
  it('count by known keys, each once; lines of others and junk are left out', async () => {
    const lines = [three.over(head), 'junk', '', one.over(head), one.over(head, 1_780_000_001), two.over(head)]
    expect(await checked(lines, 2)).toEqual(['w.example/1', 'w.example/2'])
    expect(await checked(lines.slice(0, 5), 2)).toBe('unwitnessed')
    expect(await checked([...lines.slice(0, 3), 7, null])).toBe('unwitnessed')
    expect(await checked(undefined)).toBe('unwitnessed')
  })

  it('are over height, root, hash and chain', async () => {
    const others = [
      { ...head, height: 8 },
      { ...head, didRoot: sha256('other') },
      { ...head, hash: sha256('other') },
      { ...head, genesis: sha256('other') },
    ]
    for (const other of others) expect(await checked([one.over(other)])).toBe('cosignature')
    expect(await checked([one.over(head)])).toEqual(['w.example/1'])
  })

  it('do not hold once any character of a line is another one', async () => {
    const line = one.over(head)
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: line.length - 1 }),
        fc.constantFrom('A', 'b', '9', '/', ' '),
        async (at, letter) => {
          const changed = line.slice(0, at) + letter + line.slice(at + 1)
          const outcome = await checked([changed])
          if (changed !== line) expect(['unwitnessed', 'cosignature']).toContain(outcome)
        },
      ),
      runs,
    )
  })

  it('are at most 16 of a head', async () => {
    const most = Array.from({ length: notes.maxCosignatures }, (_, i) => witness(`m${i}`).over(head))
    expect(await checked([...most.slice(1), one.over(head)])).toEqual(['w.example/1'])
    expect(await checked([...most, one.over(head)])).toBe('form')
  })

  it('are none with another ID of the key, nor of a key with a small order', async () => {
    const forged = notes.cosignatureLine({ ...one.key, id: two.key.id }, 1, new Uint8Array(64))
    expect(await checked([forged])).toBe('unwitnessed')
    const small = notes.witnessKey('small', Uint8Array.from([1, ...new Uint8Array(31)]))
    // R = identity and s = 0 verify for a key of order one by lenient rules.
    const line = notes.cosignatureLine(small, 1, Uint8Array.from([1, ...new Uint8Array(63)]))
    const check = notes.checkCosignatures(head, [line], { keys: [small], needed: 1 })
    await expect(signatures.settle(check)).rejects.toMatchObject({ failure: 'cosignature' })
  })
})

describe('the text of a cosigned head', () => {
  it('is read as it was written', () => {
    const text = notes.noteText(head, [one.over(head), two.over(head)])
    const note = notes.readNote(text)
    expect(notes.isAbout(note, head)).toBe(true)
    expect(notes.noteText(head, note.lines)).toBe(text)
    expect(notes.isAbout(note, { ...head, genesis: sha256('x') })).toBe(false)
  })

  it('is refused in any other form', () => {
    const text = notes.noteText(head, [one.over(head)])
    const [origin, , root, hash] = text.split('\n') as [string, string, string, string]
    const wrong = [
      text.trimEnd(),
      text.replace('\n7\n', '\n07\n'),
      text.replace('\n7\n', '\n0\n'),
      text.replace('\n7\n', '\n4294967296\n'),
      text.replace(root, root.slice(0, -1)),
      text.replace(hash, `${hash.slice(0, -2)}B=`),
      notes.noteBody(head),
      `${origin}\n7\n${root}\n${hash}\nmore\n\n${one.over(head)}\n`,
      `${text}${'x'.repeat(notes.maxNote - text.length)}\n`,
      notes.noteText(
        head,
        Array.from({ length: notes.maxCosignatures + 1 }, () => '\u2014 a b'),
      ),
    ]
    for (const one of wrong) expect(failureOf(() => notes.readNote(one))).toBe('form')
    expect(notes.readNote(text.replace('\n7\n', '\n4294967295\n')).height).toBe(0xffffffff)
    expect(
      notes.readNote(
        notes.noteText(
          head,
          Array.from({ length: notes.maxCosignatures }, () => '\u2014 a b'),
        ),
      ).lines,
    ).toHaveLength(16)
  })
})

describe('the key of a witness', () => {
  it('is read as it was written, for any name that C2SP allows', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), (name) => {
        const key = failureOf(() => notes.witnessKey(name, one.key.publicKey))
        if (/[\s+\p{C}]/u.test(name)) return void expect(key).toBe('form')
        const text = notes.verifierKeyText(key as notes.WitnessKey)
        expect(notes.verifierKeyText(notes.readVerifierKey(text))).toBe(text)
      }),
      runs,
    )
  })

  it('has a name of 1 to 100 characters without spaces, plus and line ends', () => {
    const named = (name: string) => failureOf(() => notes.witnessKey(name, one.key.publicKey))
    expect(named('n'.repeat(notes.maxWitnessName))).toMatchObject({ name: 'n'.repeat(notes.maxWitnessName) })
    for (const name of ['', 'n'.repeat(notes.maxWitnessName + 1), 'a b', 'a+b', 'a\nb', 'a\u2003b', 'a\u0000'])
      expect(named(name)).toBe('form')
  })

  it('is refused with another ID, type or size', () => {
    const text = notes.verifierKeyText(one.key)
    const [name, id, key] = text.split('+') as [string, string, string]
    const typed = (type: number, size: number) => Buffer.from([type, ...new Uint8Array(size)]).toString('base64')
    for (const wrong of [
      `${name}+00000000+${key}`,
      `other+${id}+${key}`,
      `${name}+${id}+${typed(1, 32)}`,
      `${name}+${id}+${typed(4, 31)}`,
      `${name}+${id}`,
      name,
      'x'.repeat(300),
    ]) {
      expect(failureOf(() => notes.readVerifierKey(wrong))).toBe('form')
    }
  })
})
