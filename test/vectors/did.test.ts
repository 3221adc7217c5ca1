import { describe, expect, it } from 'vitest'
import bs58 from 'bs58'
import { verify } from '../../src/base/crypto/verify.js'
import { decodeSignature } from '../../src/identity/did/base64url.js'
import { documentText } from '../../src/identity/did/canonical.js'
import { parseCredential } from '../../src/identity/did/credential.js'
import { parseDocument } from '../../src/identity/did/document.js'
import { parseLibraryDocument } from '../../src/identity/did/library-document.js'
import { defaultDidLimits } from '../../src/identity/did/did-rules.js'
import { parseOperation, readOperationJson, signedText } from '../../src/identity/did/operation.js'
import { fromPlain } from '../../src/identity/did/plain-json.js'
import {
  canonicalDocument,
  verifyCredential,
  verifyDocument,
  verifyOperation,
} from '../../src/node/library/verify-documents.js'
import { fromUtf8, toHex } from '../../src/base/primitives/bytes.js'
import { sha256 } from '../../src/base/primitives/hash.js'
import { codeOf } from '../support/assert/code-of.js'
import { copied, openVectors } from '../support/builders/vectors.js'

const method = 'elastos'
const library = { method, chain: false } as const

interface DocumentProofMembers {
  signatureValue: string
}
interface PublishedDocument {
  id: string
  controller?: string | string[]
  expires: string
  proof: DocumentProofMembers | DocumentProofMembers[]
}
interface DocumentVector {
  set: string
  id: string
  defaultKey: string | null
  document: PublishedDocument
  signingInput: string
  sha256: string
  proofVerified: boolean[]
}
interface PublishedCredential {
  issuer?: string
  issuanceDate: string
  credentialSubject: { id: string }
  proof: { signature: string }
}
interface CredentialVector {
  set: string
  credential: PublishedCredential
  signingInput: string
  key: string
  publicKeyBase58: string
  verified: boolean
}
interface OperationVector {
  name: string
  expectValid: boolean
  operation: { header: object; payload: string; proof: { signature: string } }
  document: object
  publicKeyBase58?: string
  signingInputSha256: string
  verified?: boolean
}

const documents = openVectors<{ vectors: DocumentVector[] }>('did-documents.json', { descriptive: ['about', 'file'] })
const credentials = openVectors<{ vectors: CredentialVector[] }>('credentials.json', { descriptive: ['about', 'file'] })
const operations = openVectors<{ vectors: OperationVector[] }>('did-operations.json', {
  descriptive: ['about', 'source', 'note'],
})

/** Another signature or text of the same form: one character in the middle differs. */
function altered(text: string): string {
  const middle = text.length >> 1
  return text.slice(0, middle) + (text[middle] === 'A' ? 'B' : 'A') + text.slice(middle + 1)
}

/** The documents of the controllers that a document names, out of the same set. */
function controllersOf(vector: DocumentVector): object[] {
  return [vector.document.controller ?? []].flat().map((did) => documentOf(vector.set, did))
}

function documentOf(set: string, did: string): PublishedDocument {
  const vector = documents.data.vectors.find((candidate) => candidate.set === set && candidate.id === did)
  if (vector === undefined) throw new Error(`no document of ${did} in ${set}`)
  return vector.document
}

describe('published documents', () => {
  it('are all there', () => {
    expect(documents.data.vectors).toHaveLength(41)
  })

  it.each(documents.data.vectors.map((vector, index) => [index, vector.set, vector.id, vector] as const))(
    'document %i (%s, %s): canonical text and proofs',
    (_, __, id, vector) => {
      const document = copied(vector.document) as PublishedDocument
      expect(canonicalDocument(document, { method })).toBe(vector.signingInput)
      expect(toHex(sha256(vector.signingInput))).toBe(vector.sha256)
      const read = parseLibraryDocument(fromPlain(document), library)
      expect(read.id).toBe(id)
      expect(read.defaultKey?.id ?? null).toBe(vector.defaultKey)

      const controllers = controllersOf(vector)
      const proofs = [document.proof].flat()
      expect(vector.proofVerified).toEqual(proofs.map(() => true))
      expect(verifyDocument(document, { method, controllers })).toEqual({ valid: true })
      expect(verifyDocument(JSON.stringify(document), { method, controllers })).toEqual({ valid: true })
      // Each proof counts: with any one altered the document fails, and so it does with another text.
      for (const proof of proofs) {
        const genuine = proof.signatureValue
        proof.signatureValue = altered(genuine)
        expect(verifyDocument(document, { method, controllers }).valid).toBe(false)
        proof.signatureValue = genuine
      }
      const later = { ...document, expires: document.expires.replace(/^\d{4}/, '2999') }
      expect(verifyDocument(later, { method, controllers }).valid).toBe(false)
      expect(verifyDocument({ ...document, proof: undefined }, { method, controllers }).valid).toBe(false)
      if (controllers.length > 0) expect(verifyDocument(document, { method }).valid).toBe(false)
    },
  )

  it.each(documents.data.vectors.map((vector, index) => [index, vector] as const))(
    'document %i: its canonical text reads back as itself, and a chain with names takes it',
    (_, vector) => {
      const value = fromPlain(copied(vector.document))
      const text = documentText(parseLibraryDocument(value, library))
      expect(documentText(parseLibraryDocument(fromPlain(text), library))).toBe(text)
      expect(codeOf(() => parseDocument(value, { method, chain: true, names: true }))).toBeUndefined()
    },
  )

  it('have members that were all read', () => documents.finish())
})

describe('published credentials', () => {
  it('are all there', () => {
    expect(credentials.data.vectors).toHaveLength(23)
  })

  it.each(credentials.data.vectors.map((vector, index) => [index, vector] as const))(
    'credential %i: canonical text and proof',
    (_, vector) => {
      const credential = copied(vector.credential) as PublishedCredential
      const read = parseCredential(fromPlain(credential), '', library, undefined)
      expect(read.signingText).toBe(vector.signingInput)
      expect(read.proof.verificationMethod).toBe(vector.key)
      const key = bs58.decode(vector.publicKeyBase58)
      expect(verify(key, fromUtf8(vector.signingInput), read.proof.signature)).toBe(vector.verified)

      const issuerDid = credential.issuer ?? credential.credentialSubject.id
      const issuer = documentOf(vector.set, issuerDid)
      const controllers = [issuer.controller ?? []].flat().map((did) => documentOf(vector.set, did))
      const options = { method, controllers }
      expect(verifyCredential(credential, issuer, options)).toEqual({ valid: vector.verified })
      const { proof } = credential
      const badProof = { ...credential, proof: { ...proof, signature: altered(proof.signature) } }
      expect(verifyCredential(badProof, issuer, options).valid).toBe(false)
      const backdated = { ...credential, issuanceDate: '2001-01-01T00:00:00Z' }
      expect(verifyCredential(backdated, issuer, options).valid).toBe(false)
      if (controllers.length > 0) expect(verifyCredential(credential, issuer, { method }).valid).toBe(false)
    },
  )

  it('six of them are by controllers of the issuer', () => {
    const controlled = credentials.data.vectors.filter(({ credential, key }) => {
      return !key.startsWith(`${credential.issuer ?? credential.credentialSubject.id}#`)
    })
    expect(controlled).toHaveLength(6)
  })

  it('stand verified in their documents too', () => {
    let counted = 0
    for (const { set, document } of documents.data.vectors) {
      for (const credential of parseLibraryDocument(fromPlain(copied(document)), library).credentials) {
        const issuer = documents.data.vectors.find((vector) => vector.set === set && vector.id === credential.issuer)
        if (issuer === undefined) throw new Error(`no issuer of ${credential.id}`)
        const options = { method, controllers: controllersOf(issuer) }
        expect(verifyCredential(credential.text, issuer.document, options)).toEqual({ valid: true })
        counted++
      }
    }
    expect(counted).toBe(33)
  })

  it('have members that were all read', () => credentials.finish())
})

describe('published operations', () => {
  const named = (start: string): OperationVector[] => {
    const found = operations.data.vectors.filter(({ name }) => name.startsWith(start))
    if (found.length === 0) throw new Error(`no vector ${start}`)
    return found
  }
  const read = (vector: OperationVector) => readOperationJson(JSON.stringify(vector.operation))
  const chainCode = (vector: OperationVector) =>
    codeOf(() =>
      parseOperation(read(vector), {
        method,
        specifications: { did: ['elastos/did/1.0'], credential: ['elastos/credential/1.0'] },
        limits: defaultDidLimits,
        didCore: true,
  names: false,
      }),
    )
  const digest = (vector: OperationVector, options = {}) => toHex(sha256(signedText(read(vector), options)))
  const expectAlteredFail = (vector: OperationVector, options: { legacy?: boolean } = {}) => {
    const { operation, document } = vector
    const { proof, payload } = operation
    const badProof = { ...operation, proof: { ...proof, signature: altered(proof.signature) } }
    expect(verifyOperation(badProof, document, { method, ...options }).valid).toBe(false)
    expect(verifyOperation({ ...operation, payload: altered(payload) }, document, { method, ...options }).valid).toBe(
      false,
    )
  }

  it('are all there', () => {
    expect(operations.data.vectors).toHaveLength(6)
  })

  it('a create verifies, but the chain misses the proof of its document', () => {
    const [vector] = named('didPayloadInfoBytes') as [OperationVector]
    expect(digest(vector)).toBe(vector.signingInputSha256)
    expect(vector.verified).toBe(true)
    expect(verifyOperation(vector.operation, vector.document, { method })).toEqual({ valid: vector.expectValid })
    expect(verifyOperation(JSON.stringify(vector.operation), undefined, { method })).toEqual({ valid: true })
    expectAlteredFail(vector)
    expect(chainCode(vector)).toBe('document-proof-missing')
  })

  it('a create with the signature of another one does not verify', () => {
    const [vector] = named('errDIDPayloadInfoBytes') as [OperationVector]
    expect(digest(vector)).toBe(vector.signingInputSha256)
    expect(vector.expectValid).toBe(false)
    const document: { id: string; publicKey: { publicKeyBase58: string }[] } = JSON.parse(
      JSON.stringify(vector.document),
    )
    const key = bs58.decode(document.publicKey[0]?.publicKeyBase58 ?? '')
    const signature = decodeSignature(vector.operation.proof.signature) as Uint8Array
    expect(verify(key, fromUtf8(signedText(read(vector))), signature)).toBe(vector.verified)
    expect(verifyOperation(vector.operation, copied(vector.document) as object, { method }).valid).toBe(false)
    // Not only for its missing member: a complete document with the same key does not make the signature right.
    const complete = { ...document, expires: '2030-01-01T00:00:00Z' }
    const update = {
      ...vector.operation,
      header: { ...vector.operation.header, operation: 'update', previousTxid: '0'.repeat(64) },
    }
    expect(verifyOperation(update, complete, { method })).toEqual({
      valid: false,
      reason: expect.stringContaining('does not verify') as string,
    })
    expect(chainCode(vector)).toBe('document-form')
  })

  it('samples of 2019 verify only as legacy', () => {
    const samples = named('documentation sample, legacy')
    expect(samples).toHaveLength(2)
    for (const vector of samples) {
      expect(digest(vector, { legacy: true })).toBe(vector.signingInputSha256)
      expect(digest(vector)).not.toBe(vector.signingInputSha256)
      expect(verifyOperation(vector.operation, vector.document, { method }).valid).toBe(vector.expectValid)
      expect(verifyOperation(vector.operation, vector.document, { method, legacy: true })).toEqual({ valid: true })
      expectAlteredFail(vector, { legacy: true })
      expect(chainCode(vector)).toBe('did-signature-form')
    }
  })

  it('a create whose document is only signed as submitted: its own proof verifies, that of the document does not', () => {
    const [vector] = named('changedocpayload') as [OperationVector]
    expect(digest(vector)).toBe(vector.signingInputSha256)
    expect(vector.verified).toBe(true)
    expect(verifyOperation(vector.operation, vector.document, { method })).toEqual({ valid: vector.expectValid })
    expectAlteredFail(vector)
    const document = copied(vector.document) as PublishedDocument
    const parsed = parseLibraryDocument(fromPlain(document), library)
    const signer = parsed.keys.find((key) => key.id.endsWith('#key2'))
    expect(signer?.publicKeyBase58).toBe(vector.publicKeyBase58)

    expect(verifyDocument(document, { method }).valid).toBe(false)
    const { proof, ...unsigned } = document
    const text = JSON.stringify(unsigned)
    const proofs = [proof].flat()
    const signature = decodeSignature(proofs[0]?.signatureValue ?? '') as Uint8Array
    expect(verify(parsed.defaultKey?.publicKey as Uint8Array, fromUtf8(text), signature)).toBe(true)
    expect(chainCode(vector)).toBe('document-did')
  })

  it('a declare is signed over its payload; the chain refuses the names of another method', () => {
    const [vector] = named('Lindaprofile07') as [OperationVector]
    expect(digest(vector)).toBe(vector.signingInputSha256)
    expect(vector.verified).toBe(true)
    const key = bs58.decode(vector.publicKeyBase58 ?? '')
    const text = fromUtf8(signedText(read(vector)))
    const { signature } = vector.operation.proof
    expect(verify(key, text, decodeSignature(signature) as Uint8Array)).toBe(vector.expectValid)
    expect(verify(key, text, decodeSignature(altered(signature)) as Uint8Array)).toBe(false)
    expect(verify(key, fromUtf8(altered(signedText(read(vector)))), decodeSignature(signature) as Uint8Array)).toBe(
      false,
    )
    const payload: unknown = JSON.parse(Buffer.from(vector.operation.payload, 'base64url').toString())
    expect(payload).toEqual(copied(vector.document))
    expect(verifyOperation(vector.operation, vector.document, { method }).valid).toBe(false)
    expect(chainCode(vector)).toBe('did-verification-method')
  })

  it('have members that were all read', () => operations.finish())
})
