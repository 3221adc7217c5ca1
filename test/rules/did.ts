import bs58 from 'bs58'
import { decodeBase64url, encodeBase64url } from '../../src/identity/did/base64url.js'
import { buildCreate, buildDocument, buildUpdate } from '../../src/identity/did/build.js'
import { payloadText } from '../support/builders/payload-text.js'
import { documentJsonLimits, parseDocumentBytes } from '../../src/identity/did/document.js'
import { entryLimit } from '../../src/identity/did/entry-limit.js'
import { parseOperation, readOperationJson } from '../../src/identity/did/operation.js'

import type { Code } from '../../src/base/errors/error-codes.js'
import { fromUtf8 } from '../../src/base/primitives/bytes.js'
import { type DidOperation, operationJson } from '../../src/base/primitives/did-operation.js'
import { parseStrictJson } from '../../src/base/primitives/strict-json.js'
import {
  authorizationKey,
  credentialSpecification,
  didRules as rules,
  type Holder,
  holder,
  Registry,
  signer,
  specification,
  txid,
} from '../support/builders/did.js'
import {
  createNamed,
  namedDocument,
  namedRules,
  ticketOf,
  transferNamed,
  updateNamed,
} from '../support/builders/named-did.js'
import { quickSigner } from '../support/builders/signatures.js'
import type { RuleRow } from './row.js'
import type { OtherState } from './states.js'

const ada = holder()
const bob = holder()

/** A row whose two inputs go through the same door. */
function row<T>(code: Code, door: (input: T) => unknown, accepted: T, refused: T): RuleRow {
  return { code, accepts: () => void door(accepted), refuses: () => void door(refused) }
}

const json = (text: string) => parseStrictJson(text, documentJsonLimits)
const text = (members: object) => JSON.stringify(members)

/** Any member of a document, in compact form; undefined leaves it out. */
type Members = Record<string, unknown>

const compact = JSON.parse(payloadText(ada.document(), 'compact')) as Members & { publicKey: Members[]; proof: Members }
const [primary, recovery] = compact.publicKey as [Members, Members]

const readDocument = (changes: Members) =>
  parseDocumentBytes(fromUtf8(text({ ...compact, ...changes })), {
    method: 'ledger',
    chain: true,
    limitEntries: entryLimit(256),
  })
const documentRow = (code: Code, accepted: Members, refused: Members) => row(code, readDocument, accepted, refused)

const service = { id: '#hub', type: 'Hub', serviceEndpoint: 'https://hub.example' }
const credential = JSON.parse(ada.issue(ada.did)) as Members & { proof: Members }
const withCredential = (changes: Members) => ({ verifiableCredential: [{ ...credential, ...changes }] })
const freshKey = (id: string) => ({ id, publicKeyBase58: bs58.encode(quickSigner().publicKey) })

const parse = (operation: DidOperation) => parseOperation(operation, rules)
const create = ada.create()
const update = ada.update(txid(1))
const deactivate = ada.deactivate()
const declare = ada.declare(bob.issue(ada.did))
const revoke = ada.revoke(`${ada.did}#profile`)
const readJson = (change: (operation: { header: Members; payload?: unknown; proof: Members }) => object) =>
  readOperationJson(text(change(JSON.parse(JSON.stringify(operationJson(update))))))

/** Applies operations one after another, each in a transaction of its own; in another state only the last of them. */
const apply = (operations: readonly DidOperation[], state: OtherState | undefined) => {
  const chain = state?.registry([ada, bob]) ?? new Registry()
  for (const operation of state === undefined ? operations : operations.slice(-1)) chain.apply(operation)
}
const stateRow = (code: Code, accepted: readonly DidOperation[], refused: readonly DidOperation[]): RuleRow => ({
  code,
  accepts: (state) => apply(accepted, state),
  refuses: (state) => apply(refused, state),
})

/** One bit of the signature or text another way. */
function flipped(base64url: string): string {
  const bytes = Uint8Array.from(decodeBase64url(base64url) as Uint8Array)
  bytes[40] = (bytes[40] as number) ^ 1
  return encodeBase64url(bytes)
}

/** A create of about `size` bytes, filled up with a service. */
function padded(size: number): DidOperation {
  const filler = 'x'.repeat(
    size - payloadText(ada.document({ services: [{ ...service, serviceEndpoint: '' }] })).length,
  )
  return ada.create({ services: [{ ...service, serviceEndpoint: filler }] })
}

const foreignCredentials = (count: number) =>
  Array.from({ length: count }, (_, index) => bob.issue(ada.did, { id: `${ada.did}#credential${index}` }))
const services = (count: number) => Array.from({ length: count }, (_, index) => ({ ...service, id: `#hub${index}` }))

const jsonRows: readonly RuleRow[] = [
  row(
    'json-utf8',
    (bytes) => parseDocumentBytes(bytes, { method: 'ledger', chain: true }),
    fromUtf8(text(compact)),
    Uint8Array.of(...fromUtf8(text(compact)), 0xff),
  ),
  row('json-syntax', json, ' {"a":1}\n', '\ufeff{"a":1}'),
  row('json-depth', json, '['.repeat(16) + ']'.repeat(16), '['.repeat(17) + ']'.repeat(17)),
  row('json-tokens', json, `[${'1,'.repeat(19_998)}1]`, `[${'1,'.repeat(19_999)}1]`),
  row('json-duplicate-name', json, '{"a":{"a":1}}', '{"a":1,"\\u0061":1}'),
  row('json-name', json, '{"proto":1}', '{"__proto__":1}'),
  row('json-text', json, '"\\ud83d\\ude00"', '"\\ud83d"'),
  row('json-number', json, '9007199254740991', '9007199254740992'),
]

const operationRows: readonly RuleRow[] = [
  row(
    'did-operation-form',
    readJson,
    (operation) => operation,
    ({ header, proof }) => ({ header, proof }),
  ),
  row('did-operation-unknown', parse, create, { ...create, operation: 'recover' }),
  row(
    'did-credential-operation',
    (credential: readonly string[]) => {
      parseOperation(declare, { ...rules, specifications: { ...rules.specifications, credential } })
    },
    [credentialSpecification],
    [],
  ),
  row('did-specification', parse, create, { ...create, specification: 'ledger/credential/1.0' }),
  row('did-previous-form', parse, update, { ...update, previousTxid: 'A'.repeat(64) }),
  row('did-payload-encoding', parse, create, { ...create, payload: `${create.payload}=` }),
  row('did-payload-size', parse, padded(rules.limits.payloadBytes), padded(rules.limits.payloadBytes + 1)),
  row('did-payload-did', parse, deactivate, { ...deactivate, payload: ada.did.replace(/.$/, '0') }),
  row('did-payload-credential', parse, revoke, ada.revoke('#profile')),
  row('did-proof-type', parse, { ...create, proofType: '' }, { ...create, proofType: 'Ed25519' }),
  row(
    'did-verification-method',
    parse,
    { ...create, verificationMethod: `${ada.did}#primary` },
    { ...create, verificationMethod: 'primary' },
  ),
  row('did-signature-form', parse, create, { ...create, signature: `${create.signature}A` }),
]

const recovered = { specification, verificationMethod: '#recovery' }
const stateRows: readonly RuleRow[] = [
  stateRow('did-exists', [create, update], [create, create]),
  stateRow('did-unknown', [create, update], [update]),
  stateRow('did-deactivated', [create, deactivate], [create, deactivate, deactivate]),
  stateRow('did-previous-txid', [create, update], [create, ada.update(txid(2))]),
  stateRow(
    'did-signer',
    [create, buildUpdate(ada.document(), { ...recovered, previousTxid: txid(1) }, signer(ada.recovery))],
    [
      ada.create({ keys: ada.plan.keys.slice(0, 1) }),
      buildUpdate(ada.document(), { ...recovered, previousTxid: txid(1) }, signer(ada.recovery)),
    ],
  ),
  stateRow('did-signature', [create], [{ ...create, signature: flipped(create.signature) }]),
  stateRow('did-signature', [create, update], [create, { ...update, signature: flipped(update.signature) }]),
  stateRow(
    'did-signature',
    [create, deactivate],
    [create, { ...deactivate, signature: flipped(deactivate.signature) }],
  ),
  stateRow(
    'document-proof',
    [create],
    [
      buildCreate(
        buildDocument(ada.plan, signer(ada.recovery)),
        { specification, verificationMethod: '#primary' },
        signer(ada.primary),
      ),
    ],
  ),
]

/** Operations on a DID with a name, which follow the creates of ada and bob. */
const ofTeam = { by: [ada, bob], needed: 2 }
const team = createNamed(namedDocument('team', ofTeam), ada)
const namedRow = (code: Code, accepted: readonly DidOperation[], refused: readonly DidOperation[]): RuleRow => {
  const run = (operations: readonly DidOperation[], state: OtherState | undefined) => {
    const chain = state?.registry([ada, bob], namedRules) ?? new Registry(namedRules)
    const all = [create, bob.create(), ...operations]
    for (const operation of state === undefined ? all : all.slice(-1)) chain.apply(operation)
  }
  return { code, accepts: (state) => run(accepted, state), refuses: (state) => run(refused, state) }
}
const moved = (last: string, signers: readonly Holder[]) =>
  transferNamed(namedDocument('team', { by: [bob] }), ticketOf('team', { to: bob, txid: last, signers }), bob)
const toBob = moved(txid(3), [ada, bob])
const namedRows: readonly RuleRow[] = [
  row('did-names', (names: boolean) => parseOperation(team, { ...namedRules, names }), true, false),
  row('did-ticket-form', (operation) => parseOperation(operation, namedRules), toBob, { ...toBob, ticket: '!' }),
  namedRow('did-controller', [team], [createNamed(namedDocument('team', { by: [ada, holder()] }), ada)]),
  namedRow(
    'did-controllers',
    [team, updateNamed(namedDocument('team', ofTeam), txid(3), bob)],
    [team, updateNamed(namedDocument('team', { by: [bob] }), txid(3), bob)],
  ),
  namedRow('did-ticket', [team, toBob], [team, moved(txid(3), [bob])]),
  namedRow('did-ticket-proof', [team, toBob], [team, moved(txid(3), [bob, { ...ada, primary: ada.recovery }])]),
]

const both = [create, bob.create()]
const credentialStateRows: readonly RuleRow[] = [
  stateRow('credential-declared', [...both, declare], [...both, declare, declare]),
  stateRow('credential-revoked', [...both, declare, revoke], [...both, declare, revoke, revoke]),
  stateRow('credential-revoked', [...both, declare], [...both, bob.revoke(`${ada.did}#profile`), declare]),
  stateRow(
    'credential-revoker',
    [...both, declare, bob.revoke(`${ada.did}#profile`)],
    [...both, ada.declare(ada.issue(ada.did)), bob.revoke(`${ada.did}#profile`)],
  ),
]

const documentRows: readonly RuleRow[] = [
  documentRow('document-form', {}, { expires: undefined }),
  documentRow('document-member', {}, { assertionMethod: ['#primary'] }),
  row(
    'document-core',
    (didCore: boolean) => parseOperation(ada.create({ alsoKnownAs: ['https://ada.example'] }), { ...rules, didCore }),
    true,
    false,
  ),
  documentRow('document-controller', {}, { controller: [] }),
  documentRow('document-text', { service: [service] }, { service: [{ ...service, type: 'Hüb' }] }),
  documentRow('document-date', { expires: '2028-02-29T00:00:00Z' }, { expires: '2027-02-29T00:00:00Z' }),
  documentRow(
    'document-did',
    { authorization: [{ ...freshKey('#delegate'), controller: bob.did }] },
    { authorization: [{ ...freshKey('#delegate'), controller: bob.did.replace('ledger', 'elastos') }] },
  ),
  documentRow(
    'document-id',
    { service: [{ ...service, id: `${ada.did}#hub` }] },
    { service: [{ ...service, id: `${bob.did}#hub` }] },
  ),
  documentRow(
    'document-duplicate-id',
    { service: [service, { ...service, id: '#hub2' }] },
    { service: [service, { ...service, id: `${ada.did}#hub` }] },
  ),
  documentRow(
    'document-key',
    {},
    // No point of the curve has x = 1.
    { publicKey: [primary, { ...recovery, publicKeyBase58: bs58.encode(Uint8Array.of(2, ...new Uint8Array(31), 1)) }] },
  ),
  documentRow(
    'document-duplicate-key',
    { publicKey: [primary, recovery, freshKey('#third')] },
    { publicKey: [primary, recovery, { ...recovery, id: '#third' }] },
  ),
  documentRow(
    'document-default-key',
    { publicKey: [primary], authentication: ['#primary'] },
    { publicKey: [recovery], authentication: ['#recovery'] },
  ),
  documentRow(
    'document-reference',
    { authentication: ['#recovery', '#primary'] },
    { authentication: ['#recovery', `${ada.did}#recovery`] },
  ),
  // Two keys stand in the document beside them.
  documentRow('document-entries', { service: services(254) }, { service: services(255) }),
  documentRow('document-proof-missing', {}, { proof: undefined }),
  documentRow(
    'document-proof-creator',
    { proof: { ...compact.proof, creator: '#primary' } },
    { proof: { ...compact.proof, creator: '#recovery' } },
  ),
]

const byBob = { credentials: [bob.issue(ada.did)] }
const forged = JSON.parse(bob.issue(ada.did)) as { proof: { signature: string } }
forged.proof.signature = flipped(forged.proof.signature)
const delegated = { ...bob.plan, keys: [...bob.plan.keys, authorizationKey('delegate', quickSigner(), ada.did)] }
const named = (fragment: string) =>
  text({
    ...JSON.parse(bob.issue(ada.did)),
    proof: { verificationMethod: fragment, signature: forged.proof.signature },
  })

const credentialRows: readonly RuleRow[] = [
  documentRow('credential-type', withCredential({ type: 'One' }), withCredential({ type: ['One', 'One'] })),
  documentRow(
    'credential-subject',
    withCredential({ credentialSubject: { name: 'Ada' } }),
    withCredential({ credentialSubject: { id: bob.did } }),
  ),
  stateRow(
    'credential-key',
    [bob.create(delegated), ada.create(byBob)],
    [bob.create(delegated), ada.create({ credentials: [named('#delegate')] })],
  ),
  stateRow('credential-issuer-unknown', [bob.create(), ada.create(byBob)], [ada.create(byBob)]),
  stateRow(
    'credential-issuer-deactivated',
    [bob.create(), ada.create(byBob), bob.deactivate()],
    [bob.create(), bob.deactivate(), ada.create(byBob)],
  ),
  stateRow(
    'credential-foreign-limit',
    [bob.create(), ada.create({ credentials: foreignCredentials(32) })],
    [bob.create(), ada.create({ credentials: foreignCredentials(33) })],
  ),
  stateRow(
    'credential-proof',
    [bob.create(), ada.create(byBob)],
    [bob.create(), ada.create({ credentials: [forged] })],
  ),
]

/** A row for every code of the DID layer: `json-…`, `did-…`, `document-…`, `credential-…`. */
export const didRules: RuleRow[] = [
  ...jsonRows,
  ...operationRows,
  ...stateRows,
  ...namedRows,
  ...credentialStateRows,
  ...documentRows,
  ...credentialRows,
]
