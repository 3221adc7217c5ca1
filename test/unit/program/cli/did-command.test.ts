import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import bs58 from 'bs58'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sign } from '../../../../src/base/crypto/keys.js'
import { verify } from '../../../../src/base/crypto/verify.js'
import { parseCredential } from '../../../../src/identity/did/credential.js'
import { documentJsonLimits } from '../../../../src/identity/did/document.js'
import { defaultDidLimits } from '../../../../src/identity/did/did-rules.js'
import { parseOperation, readOperationJson } from '../../../../src/identity/did/operation.js'
import { fromUtf8, toHex } from '../../../../src/base/primitives/bytes.js'
import type { DidOperationJson } from '../../../../src/base/primitives/did-operation.js'
import { didMethod } from '../../../../src/base/primitives/did-method.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { parseStrictJson } from '../../../../src/base/primitives/strict-json.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { FakeNode } from '../../../support/fakes/fake-node.js'
import { specText, Workbench } from '../../../support/process/workbench.js'

const alice = devnetAccount(0)
const bob = devnetAccount(1)
const rules = {
  method: didMethod,
  specifications: { did: ['ledger/did/1.0'], credential: [] },
  limits: defaultDidLimits,
  didCore: true,
  names: false,
}

interface Document {
  id: string
  publicKey: { id: string; controller: string; publicKeyBase58: string }[]
  authentication: string[]
  authorization?: string[]
  keyAgreement?: { id: string; publicKeyMultibase: string }[]
  alsoKnownAs?: string[]
  service?: { id: string; type: string; serviceEndpoint: unknown }[]
  verifiableCredential?: { id: string }[]
  expires: string
}

const documentIn = ({ payload }: DidOperationJson) =>
  JSON.parse(Buffer.from(payload, 'base64url').toString()) as Document

/** Reads the operation as a chain does and checks its signature and that of its document. */
function checked(json: DidOperationJson, publicKey: Uint8Array) {
  const operation = parseOperation(readOperationJson(JSON.stringify(json)), rules)
  expect(verify(publicKey, operation.message, operation.signature)).toBe(true)
  if (operation.kind === 'create' || operation.kind === 'update') {
    const { defaultKey, proofs, signingText } = operation.document
    const [proof] = proofs
    expect(verify(defaultKey?.publicKey ?? publicKey, fromUtf8(signingText), proof?.signature ?? publicKey)).toBe(true)
  }
  return operation
}

/** A credential of Alice, signed by an issuer. */
function credentialBy(issuer: { did: string; privateKey: Uint8Array }): string {
  const text = (signature: Uint8Array) =>
    JSON.stringify({
      id: '#degree',
      type: ['Degree'],
      issuer: issuer.did,
      issuanceDate: '2029-01-01T00:00:00Z',
      credentialSubject: { id: alice.did, name: 'Alice' },
      proof: { verificationMethod: `${issuer.did}#primary`, signature: Buffer.from(signature).toString('base64url') },
    })
  const draft = parseStrictJson(text(Buffer.alloc(64)), documentJsonLimits)
  const { signingText } = parseCredential(draft, '', { method: didMethod, chain: true }, alice.did)
  return text(sign(fromUtf8(signingText), issuer.privateKey))
}

describe('didledger did', () => {
  let bench: Workbench
  let node: FakeNode
  let online: string[]
  const as = (n: number) => ['--devnet-account', String(n), ...online]
  beforeEach(async () => {
    bench = new Workbench()
    node = new FakeNode()
    node.spec = parseSpec(specText())
    online = ['--rest', await node.start(), '--genesis', bench.spec]
    for (const { address } of [alice, bob]) node.fund(address, 10_000_000_000n)
  })
  afterEach(async () => {
    bench.close()
    await node.stop()
  })

  const last = () => {
    const [transaction] = node.blocks.at(-1)?.transactions ?? []
    const json = transaction?.toJSON()
    if (transaction === undefined || json === undefined) throw new Error('nothing was mined')
    return { transaction, json, operation: json.payload as DidOperationJson }
  }

  it('creates a DID with both keys and services, valid for five years', async () => {
    const service = 'home,LinkedDomains,https://example.org/a,b'
    const created = await bench.json('did', 'create', ...as(0), '--service', service)
    const { transaction, json, operation } = last()
    expect(created).toEqual({ did: alice.did, txid: transaction.txid, blockhash: created['blockhash'], height: 1 })
    expect(json).toMatchObject({
      version: 0,
      type: 10,
      vout: [{ value: '0.00000000', address: alice.did.slice(11) }, {}],
    })
    checked(operation, alice.publicKey)
    expect(operation).toMatchObject({
      header: { specification: 'ledger/did/1.0', operation: 'create' },
      proof: { type: 'ECDSAsecp256r1', verificationMethod: '#primary' },
    })
    const document = documentIn(operation)
    expect(document.authentication).toEqual([`${alice.did}#primary`, `${alice.did}#recovery`])
    expect(document.publicKey[1]?.publicKeyBase58).toBe(bs58.encode(alice.recovery?.publicKey ?? []))
    expect(document.service).toEqual([
      { id: `${alice.did}#home`, type: 'LinkedDomains', serviceEndpoint: 'https://example.org/a,b' },
    ])
    expect(document.expires).toBe('2035-01-01T00:00:00Z')
    expect(transaction.programs[0]?.parameter).toHaveLength(65)
  })

  it('creates and updates what other programs read: endpoints as JSON, keys for encryption, other names', async () => {
    const { publicKey: pem } = generateKeyPairSync('x25519', {
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const file = bench.write('x25519.pem', pem)
    const endpoint = '{"uri":"https://a.example","accept":["didcomm/v2"]}'
    const made = ['--service', `dc,DIDCommMessaging,${endpoint}`, '--also-known-as', 'https://alice.example']
    await bench.json('did', 'create', ...as(0), ...made, '--key-agreement', `enc,${file}`)
    const first = documentIn(last().operation)
    checked(last().operation, alice.publicKey)
    expect(first).toMatchObject({
      alsoKnownAs: ['https://alice.example'],
      keyAgreement: [{ id: `${alice.did}#enc`, type: 'Multikey', publicKeyMultibase: expect.stringMatching(/^z6LS/) }],
      service: [{ serviceEndpoint: JSON.parse(endpoint) }],
    })
    const point = toHex(bob.publicKey)
    const added = ['--add-key-agreement', `new,${point}`, '--add-also-known-as', 'did:example:alice']
    const removed = ['--remove-key-agreement', '#enc', '--remove-also-known-as', 'https://alice.example']
    await bench.json('did', 'update', ...as(0), ...added, ...removed)
    checked(last().operation, alice.publicKey)
    expect(documentIn(last().operation)).toMatchObject({
      alsoKnownAs: ['did:example:alice'],
      keyAgreement: [{ id: `${alice.did}#new`, publicKeyMultibase: expect.stringMatching(/^zDn/) }],
      service: [{ serviceEndpoint: JSON.parse(endpoint) }],
    })
    await bench.json('did', 'update', ...as(0), '--years', '3')
    expect(documentIn(last().operation)).toMatchObject({ alsoKnownAs: ['did:example:alice'] })
  })

  it.each([
    [
      ['--add-service', 'a,T,/relative'],
      1,
      'the endpoint of service #a is no absolute URI, such as https://example.org: /relative',
    ],
    [
      ['--add-service', 'a,T,https://bücher.example/ä b'],
      2,
      'the endpoint https://bücher.example/ä b is no URI as it stands; written as one it is https://xn--bcher-kva.example/%C3%A4%20b',
    ],
    [
      ['--add-service', 'a,T,["https://a.example","no"]'],
      1,
      'the endpoint of service #a is no absolute URI, such as https://example.org: no',
    ],
    [
      ['--add-service', 'a,T,{"uri":'],
      2,
      'the endpoint begins as JSON and is none to sign: expected a value, found the end of the text at character 8: {"uri":',
    ],
    [
      ['--add-service', 'a,T,{"uri":"https://x.example","uri":"https://evil.example"}'],
      2,
      'the endpoint begins as JSON and is none to sign: the name "uri" again at character 28: {"uri":"https://x.example","uri":"https://evil.example"}',
    ],
    [
      ['--add-service', 'a,T,{"n":1e400}'],
      2,
      'the endpoint begins as JSON and is none to sign: the number 1e400, which is not in canonical form, at character 6: {"n":1e400}',
    ],
    [['--add-key-agreement', 'enc'], 2, '--add-key-agreement takes name,key'],
    [
      ['--add-key-agreement', 'enc,{"kty":"OKP","crv":"Ed25519","x":"AA"}'],
      2,
      '--add-key-agreement: the key cannot be read: as JWK of kty OKP it is no key of X25519',
    ],
    [
      ['--add-key-agreement', 'enc,{"kty":"OKP","crv":"X25519","x":"AA","d":"AA"}'],
      2,
      '--add-key-agreement: the key is a private key, and a public one is needed here; show the private one to nobody',
    ],
    [['--remove-key-agreement', 'enc'], 1, `the document of ${alice.did} has no key #enc in keyAgreement`],
    [['--remove-also-known-as', 'urn:x'], 1, `the document of ${alice.did} does not have urn:x in alsoKnownAs`],
  ])('refuses %j of an update', async (options, code, message) => {
    await bench.json('did', 'create', ...as(0))
    expect(await bench.run('did', 'update', ...as(0), ...options)).toMatchObject({ code, err: `error: ${message}\n` })
  })

  it('refuses a document that is too large for the chain before it is sent, or written to a file', async () => {
    await bench.json('did', 'create', ...as(0))
    const before = last().transaction.txid
    const part = (id: string) => `${id},T,https://x.example/${'a'.repeat(70_000)}`
    const services = ['--add-service', part('a'), '--add-service', part('b')]
    for (const options of [[], ['-o', bench.path('update.json')]]) {
      const { code, err } = await bench.run('did', 'update', ...as(0), ...services, ...options)
      expect(code).toBe(1)
      expect(err).toMatch(
        /^error: the document has 14\d{4} bytes, and the chain takes at most 131072: remove services /,
      )
    }
    const many = Array.from({ length: 300 }, (_, index) => ['--add-service', `s${index},T,https://x`]).flat()
    const { err } = await bench.run('did', 'update', ...as(0), ...many)
    expect(err).toContain('the document has 302 keys, services, credentials and other names, of which at most 256 are')
    expect(last().transaction.txid).toBe(before)
    expect(existsSync(bench.path('update.json'))).toBe(false)
  })

  it('updates on the last operation, adding and removing services', async () => {
    await bench.json('did', 'create', ...as(0), '--service', 'a,T,https://a')
    const first = last().transaction.txid
    await bench.json(
      'did',
      'update',
      ...as(0),
      '--add-service',
      '#b,T,https://b',
      '--remove-service',
      'a',
      '--years',
      '2',
    )
    const { operation } = last()
    expect(operation.header.previousTxid).toBe(first)
    checked(operation, alice.publicKey)
    const document = documentIn(operation)
    expect(document.service?.map(({ id }) => id)).toEqual([`${alice.did}#b`])
    expect(document.expires).toBe('2032-01-01T00:00:00Z')
    expect(document.authentication).toHaveLength(2)
    const none = await bench.run('did', 'update', ...as(0), '--remove-service', 'a')
    expect(none).toMatchObject({ code: 1, err: 'error: the document has no service #a\n' })
    const nothing = await bench.run('did', 'update', ...as(0))
    expect(nothing).toMatchObject({ code: 2, err: expect.stringContaining('what shall change?') })
    const named = await bench.run('did', 'update', alice.did, ...as(0))
    const why =
      'update takes options alone: the DID is that of the account, which --wallet, --account and --devnet-account choose'
    expect(named).toMatchObject({ code: 2, out: '', err: expect.stringContaining(`error: ${why}\n`) })
    const other = await bench.run('did', 'deactivate', bob.did, ...as(0))
    expect(other).toMatchObject({ code: 2, err: expect.stringContaining('choose, or what --for names\n') })
    const twice = await bench.run('did', 'update', ...as(0), '--add-service', 'b,T,https://b')
    expect(twice).toMatchObject({ code: 1, err: expect.stringContaining('(document-duplicate-id)') })
  })

  it('takes the ids that a document shows for the names in them', async () => {
    await bench.json('did', 'create', ...as(0), '--service', 'a,T,https://a')
    const change = ['--remove-service', `${alice.did}#a`, '--add-service', `${alice.did}#b,T,https://b`]
    await bench.json('did', 'update', ...as(0), ...change, '--remove-key', `${alice.did}#recovery`)
    const { service, authentication } = documentIn(last().operation)
    expect(service?.map(({ id }) => id)).toEqual([`${alice.did}#b`])
    expect(authentication).toHaveLength(1)
    const other = await bench.run('did', 'update', ...as(0), '--remove-service', `${bob.did}#b`)
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining(`has no service #${bob.did}#b`) })
  })

  it('adds and removes credentials from files, as they stand', async () => {
    await bench.json('did', 'create', ...as(0))
    await bench.json('did', 'create', ...as(1))
    const file = bench.write('degree.json', credentialBy(bob))
    await bench.json('did', 'update', ...as(0), '--add-credential', file)
    expect(documentIn(last().operation).verifiableCredential).toMatchObject([{ id: `${alice.did}#degree` }])
    await bench.json('did', 'update', ...as(0), '--remove-credential', '#degree')
    expect(documentIn(last().operation).verifiableCredential).toBeUndefined()
    const forged = bench.write('forged.json', credentialBy({ ...bob, privateKey: alice.privateKey }))
    const refused = await bench.run('did', 'update', ...as(0), '--add-credential', forged)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('45008') })
    const junk = await bench.run('did', 'update', ...as(0), '--add-credential', bench.write('junk.json', '{'))
    expect(junk).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: the credential .*junk\.json is not JSON: /),
    })
    const empty = await bench.run('did', 'update', ...as(0), '--add-credential', bench.write('empty.json', '{}'))
    expect(empty).toMatchObject({ code: 1, err: expect.stringContaining('(document-form)') })
  })

  it('continues what still waits for a block', async () => {
    node.automine = false
    const created = await bench.json('did', 'create', ...as(0), '--no-wait')
    const updated = await bench.json('did', 'update', ...as(0), '--years', '1', '--no-wait')
    await bench.json('did', 'update', ...as(0), '--years', '3', '--no-wait')
    expect(
      node.pool.map((transaction) => (transaction.toJSON().payload as DidOperationJson).header.previousTxid),
    ).toEqual([undefined, created['txid'], updated['txid']])
    // A revoke ends a credential, not the DID that signs it.
    await bench.json('did', 'revoke', `${devnetAccount(0).did}#none`, ...as(0), '--no-wait')
    await bench.json('did', 'update', ...as(0), '--years', '2', '--no-wait')
    await bench.json('did', 'deactivate', ...as(0), '--no-wait')
    const late = await bench.run('did', 'update', ...as(0), '--years', '1')
    expect(late).toMatchObject({ code: 1, err: expect.stringContaining('about to be deactivated') })
  })

  it('deactivates by the recovery key, else by the key of the DID itself', async () => {
    await bench.json('did', 'create', ...as(0))
    await bench.json('did', 'deactivate', ...as(0))
    expect(last().operation).toMatchObject({ payload: alice.did, proof: { verificationMethod: '#recovery' } })
    expect(last().operation.proof.type).toBeUndefined()
    checked(last().operation, alice.recovery?.publicKey ?? alice.publicKey)
    for (const command of ['update', 'deactivate']) {
      const more = await bench.run('did', command, ...as(0), ...(command === 'update' ? ['--years', '1'] : []))
      expect(more).toMatchObject({ code: 1, err: expect.stringContaining('is deactivated, which is final') })
    }

    const key = bench.write('key', Buffer.from(bob.privateKey).toString('hex'))
    const wallet = ['--wallet', bench.path('bob.json')]
    await bench.json('wallet', 'import', key, ...wallet)
    await bench.json('did', 'create', ...wallet, ...online)
    expect(documentIn(last().operation).authentication).toEqual([`${bob.did}#primary`])
    await bench.json('did', 'deactivate', ...wallet, ...online)
    expect(last().operation.proof.verificationMethod).toBe('#primary')
    checked(last().operation, bob.publicKey)
  })

  it('lets the DID named as recovery deactivate, and nobody else', async () => {
    const recovery = ['--recovery', bob.did, bs58.encode(bob.publicKey)]
    await bench.json('did', 'create', ...recovery, ...as(0))
    const document = documentIn(last().operation)
    expect(document.authorization).toEqual([`${alice.did}#recovery`])
    expect(document.publicKey[1]?.controller).toBe(bob.did)
    const stranger = await bench.run('did', 'deactivate', ...as(2), '--for', alice.did)
    expect(stranger).toMatchObject({ code: 1, err: expect.stringContaining(`may deactivate ${alice.did}`) })
    await bench.json('did', 'deactivate', ...as(1), '--for', alice.did)
    expect(last().operation).toMatchObject({ payload: alice.did, proof: { verificationMethod: '#recovery' } })
    checked(last().operation, bob.publicKey)
  })

  it('publishes what another tool made, byte for byte, and can prepare it without a node', async () => {
    const file = bench.path('create.json')
    const made = await bench.json('did', 'create', '--devnet-account', '0', '--genesis', bench.spec, '-o', file)
    expect(node.requests).toEqual([])
    const operation = JSON.parse(readFileSync(file, 'utf8')) as DidOperationJson
    expect(made['operation']).toEqual(operation)
    const published = await bench.json('did', 'publish', file, ...as(1))
    expect(published).toMatchObject({ did: alice.did, height: 1 })
    expect(last().operation).toEqual(operation)

    // What is wrong with an operation is for the node to say.
    const odd = { ...operation, payload: 'AAAA', header: { specification: 'x', operation: 'declare' } }
    const refused = await bench.run('did', 'publish', bench.write('odd.json', JSON.stringify(odd)), ...as(1))
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('45009') })
    expect(refused.err).toContain('specification "x": this chain accepts ledger/credential/1.0')
    const again = await bench.run('did', 'create', ...as(0))
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining(`${alice.did} is on the chain: "npx`) })
    expect(again.err).toContain('is created already')
  })

  it('gives the words of the node for a create that it refuses, and calls only that existing which it was asked for', async () => {
    const file = bench.path('create.json')
    await bench.json('did', 'create', '--devnet-account', '0', '--genesis', bench.spec, '-o', file)
    const operation = JSON.parse(readFileSync(file, 'utf8')) as DidOperationJson
    const publish = async (changes: object) => {
      const text = JSON.stringify({ ...operation, ...changes })
      return (await bench.run('did', 'publish', bench.write('changed.json', text), ...as(1))).err
    }
    const oddHeader = { header: { ...operation.header, specification: 'ledger/did/2.0' } }
    // Of the customised form of other chains, whose document has controllers and no default key.
    const custom = { ...documentIn(operation), id: 'did:ledger:someone', controller: [alice.did, bob.did] }
    const customised = { payload: Buffer.from(JSON.stringify(custom)).toString('base64url') }
    const words: [object, RegExp][] = [
      [oddHeader, /specification "ledger\/did\/2\.0": this chain accepts/],
      [customised, /controller|someone/],
      [{ payload: 'AAAA' }, /expected a value/],
      [{ proof: { ...operation.proof, verificationMethod: '#none' } }, /none/],
    ]
    for (const [changes, why] of words) {
      const err = await publish(changes)
      expect(err).toMatch(why)
      expect(err).not.toMatch(/exists|is created already|is on the chain|pending/)
    }
    // Refused for the same rule, and there all the same: both are told, and neither as the cause of the other.
    await bench.json('did', 'publish', file, ...as(1))
    const both = await publish(oddHeader)
    expect(both).toMatch(/this chain accepts .*; did:ledger:\w+ is on the chain: "npx/)
    await bench.json('did', 'deactivate', ...as(0))
    expect(await publish(oddHeader)).toMatch(/this chain accepts .*; did:ledger:\w+ is on the chain, deactivated/)
  })

  it('says of an operation that is in no block that the node accepted it, and not that it is done', async () => {
    node.automine = false
    const { out } = await bench.run('did', 'create', ...as(0), '--no-wait')
    expect(out).toMatch(`The node has accepted the create of ${alice.did}, which waits for its block.\n`)
    expect(out).not.toMatch(/Created|valid until/)
  })

  it.each<[string, string, RegExp]>([
    ['no JSON', '{', /json-syntax/],
    ['another member', '{"header":{},"payload":"","proof":{},"extra":1}', /did-operation-form/],
    ['no proof', '{"header":{"specification":"s","operation":"create"},"payload":"x"}', /did-operation-form/],
  ])('refuses to publish a file with %s', async (_, text, message) => {
    const ran = await bench.run('did', 'publish', bench.write('op.json', text), ...as(1))
    expect(ran.code).toBe(1)
    expect(ran.err).toMatch(message)
    expect(node.height).toBe(0)
  })

  it('rebases a prepared update on the operation that was mined instead', async () => {
    await bench.json('did', 'create', ...as(0))
    const file = bench.path('update.json')
    await bench.json('did', 'update', ...as(0), '--years', '1', '-o', file)
    await bench.json('did', 'update', ...as(0), '--years', '2')
    const mined = last().transaction.txid
    const prepared = JSON.parse(readFileSync(file, 'utf8')) as DidOperationJson
    expect(prepared.header.previousTxid).not.toBe(mined)
    await bench.json('did', 'update', ...as(0), '--rebase', file)
    expect(last().operation).toMatchObject({ header: { previousTxid: mined }, payload: prepared.payload })
    checked(last().operation, alice.publicKey)
    const wrong = await bench.run('did', 'update', ...as(0), '--rebase', file, '--years', '1')
    expect(wrong.code).toBe(2)
    await bench.json('did', 'create', ...as(1))
    const foreign = await bench.run('did', 'update', ...as(1), '--rebase', file)
    expect(foreign).toMatchObject({ code: 1, err: expect.stringContaining('is not one of') })
  })

  it('resolves and lists history, and says when there is no such DID', async () => {
    const none = await bench.run('did', 'resolve', alice.did, ...online.slice(0, 2))
    const strict = await bench.run('did', 'resolve', alice.did, '--exit-status', ...online.slice(0, 2))
    expect(strict).toEqual({ ...none, code: 1 })
    expect(none).toMatchObject({ code: 0, out: expect.stringContaining(`${alice.did} does not exist on this chain.`) })
    expect(await bench.json('did', 'history', alice.did, ...online.slice(0, 2))).toEqual({ did: alice.did, status: 3 })
    await bench.json('did', 'create', ...as(0))
    await bench.json('did', 'update', ...as(0), '--years', '1')
    const resolved = await bench.run('did', 'resolve', alice.did.slice(11), ...online.slice(0, 2))
    expect((await bench.run('did', 'resolve', alice.did, '--exit-status', ...online.slice(0, 2))).code).toBe(0)
    expect(resolved.out).toContain(`${alice.did} is valid.`)
    expect(resolved.out).toContain(`"id": "${alice.did}"`)
    const history = await bench.run('did', 'history', alice.did, ...online.slice(0, 2))
    expect(history.out.match(/^ {2}(update|create)/gm)).toEqual(['  update', '  create'])
    const all = await bench.json<{ transaction: unknown[] }>(
      'did',
      'resolve',
      alice.did,
      '--all',
      ...online.slice(0, 2),
    )
    expect(all.transaction).toHaveLength(2)
  })

  it('renews an expired DID by the clock of a devnet that no block has shown yet', async () => {
    await bench.run('did', 'create', ...as(0))
    node.overrides.set('POST /rpc dev_increaseTime', (body) => {
      expect(body).toMatchObject({ params: { seconds: 0 } })
      return { body: { jsonrpc: '2.0', id: 1, result: Date.UTC(2044, 6, 1) / 1000 } }
    })
    await bench.json('did', 'update', '--years', '1', ...as(0))
    expect(documentIn(last().operation).expires).toBe('2045-07-01T00:00:00Z')
  })

  it('renews an expired DID, by the clock of the chain', async () => {
    await bench.json('did', 'create', ...as(0))
    node.now = Date.UTC(2035, 5, 1) / 1000
    const expired = await bench.run('did', 'resolve', alice.did, ...online.slice(0, 2))
    expect(expired.out).toContain('is expired.')
    await bench.json('did', 'update', ...as(0), '--years', '5')
    expect(documentIn(last().operation).expires).toBe('2040-01-01T00:00:00Z')
    node.mine()
    await bench.json('did', 'update', ...as(0), '--years', '5')
    expect(documentIn(last().operation).expires).toMatch(/^2040-06-01T/)
  })

  it.each<[string, string[], RegExp]>([
    ['a past expiry', ['--expires', '2029-12-31'], /2029-12-31T00:00:00Z is in the past \(--force/],
    ['six years', ['--years', '6'], /2036-01-01T00:00:00Z is more than 5 years ahead \(--force/],
    ['a second more than five years', ['--expires', '2035-01-01T00:00:01Z'], /more than 5 years/],
    ['30 February', ['--expires', '2031-02-30'], /Not a date/],
    ['no years', ['--years', '0'], /Not a number of years/],
    ['years and a date', ['--years', '1', '--expires', '2031-01-01'], /cannot be used with/],
    ['half a service', ['--service', 'a,b'], /not a service of the form id,type,endpoint/],
    ['half a recovery', ['--recovery', bob.did], /takes two values/],
    ['a recovery without DID', ['--recovery', 'x', 'y'], /x is not a DID/],
    ['a recovery key that is none', ['--recovery', bob.did, 'abc'], /the key cannot be read: it is base58 of 3 bytes/],
  ])('calls %s a wrong call: exit code 2', async (_, args, message) => {
    const ran = await bench.run(
      'did',
      'create',
      '--devnet-account',
      '0',
      '--genesis',
      bench.spec,
      '-o',
      bench.path('x'),
      ...args,
    )
    expect(ran.code, ran.err).toBe(2)
    expect(ran.err).toMatch(message)
  })

  it('takes any expiry when forced, and exactly five years without', async () => {
    const make = (name: string, ...args: string[]) =>
      bench.run('did', 'create', '--devnet-account', '0', '--genesis', bench.spec, '-o', bench.path(name), ...args)
    expect((await make('a', '--expires', '2029-12-31', '--force')).code).toBe(0)
    expect((await make('b', '--years', '30', '--force')).code).toBe(0)
    expect((await make('c', '--expires', '2035-01-01T00:00:00Z')).code).toBe(0)
  })

  it.each([
    ['2029-12-31T00:00:00Z', 'already expired since'],
    ['2030-01-01T00:00:00Z', 'already expired since'],
    ['2030-01-01T00:00:01Z', 'valid until'],
  ])('says of a DID made to last until %s: %s', async (expires, how) => {
    const { code, out } = await bench.run('did', 'create', ...as(0), '--expires', expires, '--force')
    expect(code).toBe(0)
    expect(out).toMatch(`Created ${alice.did}, ${how} ${expires}.\n`)
  })

  it('says of a DID whose create waits in the pool that it is pending, and of one on the chain that it exists', async () => {
    node.automine = false
    const created = await bench.json('did', 'create', ...as(0), '--no-wait')
    const pending = `the create of ${alice.did} is pending: transaction ${created['txid'] as string} waits for its block`
    const again = await bench.run('did', 'create', ...as(0), '--no-wait')
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining(pending) })
    expect(again.err).not.toContain('is on the chain')
    const coded = await bench.run('did', 'create', ...as(0), '--no-wait', '--json')
    expect(JSON.parse(coded.err)).toMatchObject({ error: { code: 45009, reason: expect.stringContaining(pending) } })
    node.mine()
    const late = await bench.run('did', 'create', ...as(0), '--no-wait')
    expect(late).toMatchObject({ code: 1, err: expect.stringContaining('is on the chain') })
    expect(late.err).not.toContain('pending')
  })

  it('refuses a DID with a wrong checksum', async () => {
    const ran = await bench.run('did', 'resolve', `${alice.did.slice(0, -1)}1`)
    const why =
      'Not a DID of this chain: its checksum is wrong, so it is mistyped or made up; no key has it, so it cannot exist.'
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(why) })
    for (const [text, said] of [
      [alice.address, 'it begins with E, not with i'],
      [alice.did.slice(0, -1), 'its length is 33, not 34'],
      [`${alice.did.slice(0, -1)}0`, 'character 34 is none of base58'],
      ['did:other:x', 'it does not begin with did:ledger:'],
    ] as const) {
      expect((await bench.run('did', 'history', text)).err).toContain(said)
    }
    expect(node.requests).toEqual([])
  })

  it('names what stands before and behind a DID, and ignores blanks around it', async () => {
    const inIt = `Not a DID of this chain: it is a DID URL; the DID in it is ${alice.did}`
    const versions = `${inIt}; "did resolve" has --version-id and --version-time.`
    const otherStart = `Not a DID of this chain: it does not begin with did:ledger:; the DID meant is ${alice.did}.`
    for (const [text, said] of [
      [`${alice.did}?versionTime=2027-01-01T00:00:00Z`, versions],
      [`${alice.did}?a=b&versionId=${'0'.repeat(64)}`, versions],
      [`${alice.did}#primary`, `${inIt}.`],
      [`${alice.did}/x`, `${inIt}.`],
      [`${alice.did.slice(0, -1)}0#primary`, 'character 34 is none of base58'],
      [alice.did.replace('did', 'DID'), otherStart],
      [alice.did.replace('ledger', 'LEDGER'), otherStart],
      [alice.did.replaceAll(':', '%3A'), otherStart],
      [`${alice.did.replace('did', 'DID').slice(0, -1)}0`, 'it does not begin with did:ledger:.'],
    ] as const) {
      const { code, err } = await bench.run('did', 'resolve', text)
      expect({ text, code, err }).toEqual({ text, code: 2, err: expect.stringContaining(said) })
    }
    expect(node.requests).toEqual([])
    await bench.json('did', 'create', ...as(0))
    const { code, out } = await bench.run('did', 'resolve', ` ${alice.did}\n`, ...online.slice(0, 2))
    expect([code, out]).toEqual([0, expect.stringContaining(alice.did)])
  })
})
