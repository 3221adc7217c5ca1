import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { buildCreate, buildDocument, planNew, planOf } from '../../../../src/identity/did/build.js'
import { payloadText } from '../../../support/builders/payload-text.js'
import { documentText } from '../../../../src/identity/did/canonical.js'
import { defaultDidLimits } from '../../../../src/identity/did/did-rules.js'
import { parseOperation, readOperationJson, signedText } from '../../../../src/identity/did/operation.js'
import { fromUtf8, utf8 } from '../../../../src/base/primitives/bytes.js'
import { type DidOperation, operationJson } from '../../../../src/base/primitives/did-operation.js'
import { didRules, expires, created, holder, signer, specification, txid } from '../../../support/builders/did.js'
import { codeOf } from '../../../support/assert/code-of.js'

const ada = holder()
const create = ada.create()
const update = ada.update(txid(7))
const deactivate = ada.deactivate()
const code = (operation: DidOperation, rules = didRules) => codeOf(() => parseOperation(operation, rules))

describe('the signed text', () => {
  it('joins specification, operation, previousTxid of an update, and payload', () => {
    expect(signedText(create)).toBe(`ledger/did/1.0create${create.payload}`)
    expect(signedText(update)).toBe(`ledger/did/1.0update${txid(7)}${update.payload}`)
    expect(signedText(update, { legacy: true })).toBe(`ledger/did/1.0update${update.payload}`)
    expect(signedText(deactivate)).toBe(`ledger/did/1.0deactivate${ada.did}`)
    expect(utf8(parseOperation(update, didRules).message)).toBe(signedText(update))
  })
})

describe('parseOperation', () => {
  it('reads the three operations', () => {
    expect(parseOperation(create, didRules)).toMatchObject({
      kind: 'create',
      did: ada.did,
      signer: `${ada.did}#primary`,
    })
    expect(parseOperation(update, didRules)).toMatchObject({ kind: 'update', previousTxid: txid(7) })
    expect(parseOperation(deactivate, didRules)).toMatchObject({
      kind: 'deactivate',
      did: ada.did,
      signer: `${ada.did}#recovery`,
    })
    const parsed = parseOperation(create, didRules)
    expect(parsed.kind === 'create' && parsed.payloadSize).toBe(Buffer.from(create.payload, 'base64url').length)
    expect(parsed.signature).toHaveLength(64)
  })

  it('knows no other operation, and those on credentials only where a chain has them', () => {
    for (const operation of ['', 'Create', 'create ', 'recover', 'toString']) {
      expect(code({ ...create, operation })).toBe('did-operation-unknown')
    }
    const specifications = { did: [specification], credential: [] }
    for (const operation of [ada.declare(ada.issue(ada.did)), ada.revoke(`${ada.did}#profile`)]) {
      expect(code(operation, didRules)).toBeUndefined()
      expect(code(operation, { ...didRules, specifications })).toBe('did-credential-operation')
    }
  })

  it('takes the specification strings of the chain and no others', () => {
    const accepted = buildCreate(
      ada.document(),
      { specification: 'elastos/did/1.0', verificationMethod: '#primary' },
      signer(ada.primary),
    )
    expect(code(accepted)).toBeUndefined()
    for (const text of ['', 'ledger/did/1.1', 'LEDGER/did/1.0', 'ledger/credential/1.0']) {
      expect(code({ ...create, specification: text })).toBe('did-specification')
    }
  })

  it('wants previousTxid as 64 lowercase hex digits on an update, and nowhere else', () => {
    const { previousTxid: _, ...without } = update
    expect(code(without)).toBe('did-previous-form')
    for (const previousTxid of [
      '',
      'a'.repeat(63),
      'a'.repeat(65),
      'A'.repeat(64),
      'g'.repeat(64),
      `${'a'.repeat(64)}\n`,
    ]) {
      expect(code({ ...update, previousTxid })).toBe('did-previous-form')
    }
    for (const operation of [create, deactivate]) {
      expect(code({ ...operation, previousTxid: txid(1) })).toBe('did-previous-form')
      expect(code({ ...operation, previousTxid: '' })).toBe('did-previous-form')
    }
  })

  it('wants the DID itself as the payload of a deactivate', () => {
    for (const payload of [
      '',
      ada.did.slice(0, -1),
      `${ada.did} `,
      `${ada.did}#primary`,
      'did:ledger:Foobar',
      ada.did.replace('ledger', 'elastos'),
      encodeBase64url(fromUtf8(ada.did)),
    ]) {
      expect(code({ ...deactivate, payload })).toBe('did-payload-did')
    }
  })

  it('wants exact base64url as the payload of a document', () => {
    for (const payload of ['', '=', 'A', `${create.payload} `, create.payload.replace(/.$/, '+'), ada.did]) {
      expect(code({ ...create, payload })).toBe('did-payload-encoding')
    }
    expect(code({ ...create, payload: encodeBase64url(fromUtf8('null')) })).toBe('document-form')
    expect(code({ ...create, payload: encodeBase64url(fromUtf8('x')) })).toBe('json-syntax')
  })

  it('limits what a payload decodes to, before anything is decoded', () => {
    const size = Buffer.from(create.payload, 'base64url').length
    const limited = (payloadBytes: number) =>
      codeOf(() => parseOperation(create, { ...didRules, limits: { ...defaultDidLimits, payloadBytes } }))
    expect(limited(size)).toBeUndefined()
    expect(limited(size - 1)).toBe('did-payload-size')
    expect(code({ ...create, payload: '!'.repeat(200_000) })).toBe('did-payload-size')
  })

  it('wants a key id of at most 256 bytes', () => {
    for (const verificationMethod of [
      '',
      '#',
      'primary',
      ada.did,
      `${ada.did}/a#primary`,
      'did:ledger:Foo#a',
      `#${'a'.repeat(129)}`,
      `#${'a'.repeat(300)}`,
      '#ä',
    ]) {
      expect(code({ ...create, verificationMethod })).toBe('did-verification-method')
    }
    expect(code({ ...create, verificationMethod: `${ada.did}#nobody` })).toBeUndefined()
  })

  it('wants the one proof type or none, and the exact form of a signature', () => {
    for (const proofType of ['ecdsasecp256r1', 'ECDSAsecp256r1 ', 'x']) {
      expect(code({ ...create, proofType })).toBe('did-proof-type')
    }
    for (const signature of ['', `${create.signature}==`, create.signature.slice(1), `${'A'.repeat(85)}B`]) {
      expect(code({ ...create, signature })).toBe('did-signature-form')
    }
  })
})

it('the first of several faults decides, in the order of the rules', () => {
  const faults = [
    ['did-operation-unknown', { operation: 'recover' }],
    ['did-specification', { specification: 'x' }],
    ['did-previous-form', { previousTxid: 'x' }],
    ['did-proof-type', { proofType: 'x' }],
    ['did-signature-form', { signature: 'x' }],
    ['did-verification-method', { verificationMethod: 'x' }],
    ['did-payload-encoding', { payload: '=' }],
  ] as const
  faults.forEach(([expected], first) => {
    const faulty = Object.assign({}, update, ...faults.slice(first).map(([, fault]) => fault)) as DidOperation
    expect(codeOf(() => parseOperation(faulty, didRules))).toBe(expected)
  })
})

describe('readOperationJson', () => {
  it('reads back what REST shows', () => {
    for (const operation of [create, update, deactivate]) {
      expect(readOperationJson(JSON.stringify(operationJson(operation)))).toEqual(operation)
    }
  })

  it.each([
    ['[]'],
    ['null'],
    ['{}'],
    ['{"header":{},"payload":"","proof":{}}'],
    [JSON.stringify({ ...operationJson(create), extra: 1 })],
    [JSON.stringify({ ...operationJson(create), payload: null })],
    [JSON.stringify({ ...operationJson(create), header: { ...operationJson(create).header, ticket: '' } })],
    [JSON.stringify({ ...operationJson(create), header: { ...operationJson(create).header, previousTxid: '' } })],
    [JSON.stringify({ ...operationJson(update), header: operationJson(create).header, proof: [] })],
    [JSON.stringify({ ...operationJson(update), header: { specification, operation: 'update' } })],
    [JSON.stringify({ ...operationJson(create), proof: { ...operationJson(create).proof, created: '' } })],
    [JSON.stringify({ ...operationJson(create), proof: { ...operationJson(create).proof, type: 1 } })],
  ])('%.60s is none', (text) => {
    expect(codeOf(() => readOperationJson(text))).toBe('did-operation-form')
  })

  it('says what text is no JSON', () => {
    expect(codeOf(() => readOperationJson('{"header":'))).toBe('json-syntax')
    expect(codeOf(() => readOperationJson('{"header":{},"header":{}}'))).toBe('json-duplicate-name')
  })
})

describe('the builder', () => {
  it('names the default key #primary and the other one #recovery', () => {
    const own = ada.document()
    expect([...own.authentication.keys()]).toEqual([`${ada.did}#primary`, `${ada.did}#recovery`])
    const bob = holder()
    const recovery = { publicKey: bob.primary.publicKey, controller: bob.did }
    const plan = planNew({ method: 'ledger', primary: ada.primary.publicKey, recovery, expires, created })
    const delegated = buildDocument(plan, signer(ada.primary))
    expect([...delegated.authentication.keys()]).toEqual([`${ada.did}#primary`])
    expect([...delegated.authorization.values()].map(({ id, controller }) => [id, controller])).toEqual([
      [`${ada.did}#recovery`, bob.did],
    ])
    const alone = buildDocument(
      planNew({ method: 'ledger', primary: ada.primary.publicKey, expires, created }),
      signer(ada.primary),
    )
    expect(alone.keys).toHaveLength(1)
  })

  it('writes NFC', () => {
    const service = { id: '#s', type: 'T', serviceEndpoint: 'e\u0301', 'n\u0303': ['a\u030a'] }
    const text = documentText(ada.document({ services: [service, JSON.stringify({ ...service, id: '#t' })] }))
    expect(text).toContain('"serviceEndpoint":"\u00e9","\u00f1":["\u00e5"]')
    expect(text).toBe(text.normalize('NFC'))
    const twice = { ...service, '\u00f1': 1 }
    expect(codeOf(() => ada.document({ services: [twice] }))).toBe('json-duplicate-name')
  })

  it('builds nothing that a chain would not take', () => {
    expect(codeOf(() => ada.document({ expires: 'tomorrow' }))).toBe('document-date')
    expect(codeOf(() => ada.document({ keys: [] }))).toBe('document-default-key')
    expect(codeOf(() => ada.document({ services: [{ id: '#s' }] }))).toBe('document-form')
  })

  it('changes a document through its plan', () => {
    const document = ada.document({ credentials: [ada.issue(ada.did)], context: ['https://a.example'] })
    const plan = planOf(document, 'ledger', created)
    expect(documentText(buildDocument({ ...plan, expires: '2031-01-01T00:00:00Z' }, signer(ada.primary)))).toContain(
      documentText(document).slice(0, documentText(document).indexOf('"expires"')),
    )
  })

  it('leaves the proof type out of a deactivate', () => {
    expect([create.proofType, update.proofType, deactivate.proofType]).toEqual(['ECDSAsecp256r1', 'ECDSAsecp256r1', ''])
    expect(operationJson(deactivate).proof).not.toHaveProperty('type')
  })

  it('compact payloads are shorter', () => {
    const document = ada.document()
    expect(payloadText(document, 'compact').length).toBeLessThan(payloadText(document).length * 0.6)
  })
})
