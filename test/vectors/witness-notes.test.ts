import { afterAll, describe, expect, it } from 'vitest'
import { ed25519PublicKey, ed25519Signer, verifyEd25519 } from '../../src/base/crypto/ed25519.js'
import { fromUtf8, hex, utf8 } from '../../src/base/primitives/bytes.js'
import { sha256 } from '../../src/base/primitives/hash.js'
import * as notes from '../../src/identity/proofs/witness-note.js'
import { openVectors } from '../support/builders/vectors.js'

interface NoteVectors {
  readonly head: { readonly genesis: string; readonly height: number; readonly didRoot: string; readonly hash: string }
  readonly body: string
  readonly keys: readonly {
    readonly name: string
    readonly seedOf?: string
    readonly privateKey?: string
    readonly verifierKey: string
  }[]
  readonly cosignatures: readonly {
    readonly origin: string
    readonly key: number
    readonly time?: number
    readonly message?: string
    readonly line: string
  }[]
}

const file = openVectors<NoteVectors>('witness-notes.json', { descriptive: ['description', 'origin'] })
const { head: sent, body, keys, cosignatures } = file.data
afterAll(() => file.finish())
const head = { ...sent, genesis: hex(sent.genesis), didRoot: hex(sent.didRoot), hash: hex(sent.hash) }
const known = keys.map(({ verifierKey }) => notes.readVerifierKey(verifierKey))

describe('vectors of cosigned heads', () => {
  it('have the body of a checkpoint', () => {
    expect(notes.noteBody(head)).toBe(body)
  })

  it('have keys as C2SP writes them', () => {
    for (const [i, { name, seedOf, privateKey, verifierKey }] of keys.entries()) {
      const key = known[i] as notes.WitnessKey
      expect([key.name, notes.verifierKeyText(key)]).toEqual([name, verifierKey])
      if (seedOf === undefined) continue
      const seed = sha256(seedOf)
      expect(notes.signerKeyText(notes.witnessKey(name, ed25519PublicKey(seed)), seed)).toBe(privateKey)
      expect(notes.readSignerKey(`${privateKey}\n`)?.seed).toEqual(seed)
    }
  })

  it.each(cosignatures)('have a cosignature $origin', ({ key: place, time, message, line }) => {
    const key = known[place] as notes.WitnessKey
    const found = notes.readCosignature(line) as notes.Cosignature
    expect(found.name).toBe(key.name)
    const signed = notes.cosignedMessage(head, found.time)
    expect(verifyEd25519(key.publicKey, signed, found.signature)).toBe(true)
    expect(verifyEd25519(key.publicKey, fromUtf8(`${utf8(signed)} `), found.signature)).toBe(false)
    const { seedOf } = keys[place] as (typeof keys)[number]
    if (seedOf === undefined) return
    // Ed25519 has one signature for a key and a message: this repository makes the very line of Go.
    expect(notes.cosignatureLine(key, found.time, ed25519Signer(sha256(seedOf))(signed))).toBe(line)
    if (message !== undefined) expect([found.time, utf8(signed)]).toEqual([time, message])
  })
})
