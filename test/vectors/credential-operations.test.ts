import bs58 from 'bs58'
import { describe, expect, it } from 'vitest'
import { decodeBase64url, decodeSignature } from '../../src/identity/did/base64url.js'
import { parseCredential } from '../../src/identity/did/credential.js'
import { namedCredential } from '../../src/identity/did/named-did.js'
import { readOperationJson, signedText } from '../../src/identity/did/operation.js'
import { fromPlain } from '../../src/identity/did/plain-json.js'
import type { RuleError } from '../../src/base/errors/rule-error.js'
import { verify } from '../../src/base/crypto/verify.js'
import { fromUtf8, toHex, utf8 } from '../../src/base/primitives/bytes.js'
import type { DidOperationJson } from '../../src/base/primitives/did-operation.js'
import { sha256 } from '../../src/base/primitives/hash.js'
import { credentialMapKey } from '../../src/identity/proofs/map-tree.js'
import { TestChain, withoutValidators } from '../support/builders/chain.js'
import { copied, openVectors } from '../support/builders/vectors.js'
import { contextOf } from '../support/client/api.js'
import { RpcClient } from '../support/client/rpc.js'

interface CredentialOperations {
  id: string
  holder: string
  issuer: string
  publicKeyBase58: Record<'holder' | 'issuer', string>
  operations: Record<string, DidOperationJson>
  signed: Record<string, { key: 'holder' | 'issuer'; sha256: string }>
  credential: { signingInput: string; sha256: string; key: 'issuer'; signature: string; expirationDate: string }
  rowKeys: Record<'holder' | 'issuer', string>
  sequences: {
    name: string
    credentialSpecifications: string[]
    steps: { operation: string; code: string | null }[]
    resolve: { status: number; transactions: string[] }
    list: number
  }[]
  requests: { body: { id: string; method: string; params: [{ id?: string; did?: string }] } }[]
}

const file = openVectors<CredentialOperations>('credential-operations.json', { descriptive: ['about', 'of', 'name'] })
const vectors = file.data
const operationOf = (name: string) => readOperationJson(JSON.stringify(copied(vectors.operations[name])))
const keyOf = (who: 'holder' | 'issuer') => bs58.decode(vectors.publicKeyBase58[who])

/** Before the expiry of the credential and of the DIDs. */
const time = Math.floor(Date.parse('2027-01-01T00:00:00Z') / 1000)

function open(credential: readonly string[]): Promise<TestChain> {
  return TestChain.open({ ...withoutValidators, specifications: { did: ['elastos/did/1.0'], credential } })
}

describe('credential operations that an SDK signs', () => {
  it('are signed over their texts', () => {
    for (const [name, { key, sha256: digest }] of Object.entries(vectors.signed)) {
      const operation = operationOf(name)
      const text = fromUtf8(signedText(operation))
      expect([name, toHex(sha256(text))]).toEqual([name, digest])
      expect(verify(keyOf(key), text, decodeSignature(operation.signature) as Uint8Array)).toBe(true)
    }
  })

  it('hold the credential in normalised form', () => {
    const { payload } = operationOf('declare')
    const text = utf8(decodeBase64url(payload) as Uint8Array) as string
    const rules = { method: 'ledger', chain: true }
    const read = parseCredential(fromPlain(JSON.parse(text)), '', rules, vectors.holder)
    expect(read.text).toBe(text)
    expect([read.id, read.issuer]).toEqual([vectors.id, vectors.issuer])
    const expected = copied(vectors.credential) as CredentialOperations['credential']
    expect(read.signingText).toBe(expected.signingInput)
    expect(toHex(sha256(read.signingText))).toBe(expected.sha256)
    expect(read.proof.signatureText).toBe(expected.signature)
    expect(read.expirationDate).toBe(expected.expirationDate)
    expect(verify(keyOf('issuer'), fromUtf8(read.signingText), read.proof.signature)).toBe(true)
    const named = namedCredential(operationOf('declare'))
    expect(named).toMatchObject({ id: vectors.id, signer: vectors.holder, issuer: vectors.issuer })
  })

  it('have rows under these keys', () => {
    expect(toHex(credentialMapKey(vectors.id, vectors.holder))).toBe(vectors.rowKeys.holder)
    expect(toHex(credentialMapKey(vectors.id, vectors.issuer))).toBe(vectors.rowKeys.issuer)
  })
})

describe('sequences of operations on a chain', () => {
  for (const sequence of vectors.sequences) {
    it(sequence.name, async () => {
      const test = await open(copied(sequence.credentialSpecifications) as string[])
      test.clock.time = time * 1000
      const rpc = new RpcClient(contextOf(test))
      const txids = new Map<string, string>()
      for (const { operation, code } of sequence.steps) {
        const transaction = await test.carry(operationOf(operation), vectors.holder)
        const refused = await test.send(transaction).then(
          () => null,
          (error: unknown) => (error as RuleError).code,
        )
        expect([operation, refused]).toEqual([operation, code])
        await test.mine()
        if (code === null) txids.set(transaction.txid, operation)
      }
      // The requests in the order of the vectors: with an issuer, without, a list, a page of it.
      for (const { body } of vectors.requests) {
        const { id, method, params } = copied(body) as (typeof vectors.requests)[number]['body']
        const answer = await rpc.askText(JSON.stringify({ id, method, params }))
        expect(answer).toMatchObject({ id })
        const result = (answer as { result: Record<string, unknown> }).result
        if (method === 'did_resolveCredential') {
          const transactions = (result['transaction'] as { txid: string }[] | undefined)?.map(({ txid }) => txids.get(txid))
          expect([result['status'], transactions ?? []]).toEqual(copied([sequence.resolve.status, sequence.resolve.transactions]))
          expect(Object.hasOwn(result, 'transaction')).toBe(result['status'] !== 3)
        } else {
          const listed = result['credentials'] as string[]
          const skipped = (params[0] as { skip?: number }).skip ?? 0
          expect(listed).toHaveLength(Math.max(0, sequence.list - skipped))
          expect(listed.every((id) => id === vectors.id)).toBe(true)
        }
      }
      await test.close()
    })
  }
})

it('have members that were all read', () => file.finish())
