import { holds } from '../../../src/base/crypto/verify.js'
import { encodeBase64url } from '../../../src/identity/did/base64url.js'
import {
  buildCreate,
  buildDeactivate,
  buildDocument,
  buildUpdate,
  declareOperation,
  type DocumentPlan,
  type PlannedKey,
  planNew,
  revokeOperation,
  type Sign,
} from '../../../src/identity/did/build.js'
import { parseCredential } from '../../../src/identity/did/credential.js'
import type { DidDocument } from '../../../src/identity/did/model.js'
import { defaultDidLimits, type DidRules } from '../../../src/identity/did/did-rules.js'
import { parseOperation } from '../../../src/identity/did/operation.js'
import { fromPlain } from '../../../src/identity/did/plain-json.js'
import { applyOperation } from '../../../src/identity/did/apply-operation.js'
import {
  type AppliedOperation,
  type CredentialState,
  type DidState,
  nextCredentialState,
} from '../../../src/identity/did/state.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { fromUtf8 } from '../../../src/base/primitives/bytes.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { type QuickSigner, quickSigner } from './signatures.js'

export const specification = 'ledger/did/1.0'
export const credentialSpecification = 'ledger/credential/1.0'
export const didRules: DidRules = {
  method: 'ledger',
  specifications: { did: [specification, 'elastos/did/1.0'], credential: [credentialSpecification] },
  limits: defaultDidLimits,
  didCore: true,
  names: false,
}
export const created = '2026-01-01T00:00:00Z'
export const expires = '2030-01-01T00:00:00Z'

export function signer({ sign }: QuickSigner): Sign {
  return (text) => sign(fromUtf8(text))
}

/** A display txid that is easy to tell from others. */
export function txid(number: number): string {
  return number.toString(16).padStart(64, '0')
}

/** One DID with its two keys, and what its holder can sign. */
export interface Holder {
  readonly did: string
  readonly primary: QuickSigner
  readonly recovery: QuickSigner
  /** `#primary` and `#recovery`, both for authentication. */
  readonly plan: DocumentPlan
  document(changes?: Partial<DocumentPlan>): DidDocument
  /** Signed by the key of the DID, which has another id than `#primary` where one is given. */
  create(changes?: Partial<DocumentPlan>, verificationMethod?: string): DidOperation
  update(previousTxid: string, changes?: Partial<DocumentPlan>): DidOperation
  /** Signed by the recovery key. */
  deactivate(): DidOperation
  /** A credential by this DID about `subject`, as JSON text. */
  issue(subject: string, changes?: Record<string, unknown>): string
  /** A declare of a credential in JSON text, as it stands; signed by the key of the DID under the id `#primary`. */
  declare(credential: string): DidOperation
  /** A revoke of the credential with an absolute id, signed in the same way. */
  revoke(id: string): DidOperation
}

/** One with new keys. */
export function holder(): Holder {
  return holderOf(quickSigner(), quickSigner())
}

/** One with the keys given. */
export function holderOf(primary: QuickSigner, recovery: QuickSigner): Holder {
  const plan = planNew({
    method: didRules.method,
    primary: primary.publicKey,
    recovery: { publicKey: recovery.publicKey },
    expires,
    created,
  })
  const byPrimary = { specification, verificationMethod: '#primary' }
  const ofCredential = { specification: credentialSpecification, verificationMethod: `${plan.did}#primary` }
  const document = (changes: Partial<DocumentPlan> = {}) => buildDocument({ ...plan, ...changes }, signer(primary))
  return {
    did: plan.did,
    primary,
    recovery,
    plan,
    document,
    create: (changes, verificationMethod = '#primary') =>
      buildCreate(document(changes), { specification, verificationMethod }, signer(primary)),
    update: (previousTxid, changes) => buildUpdate(document(changes), { ...byPrimary, previousTxid }, signer(primary)),
    deactivate: () => buildDeactivate(plan.did, { specification, verificationMethod: '#recovery' }, signer(recovery)),
    issue: (subject, changes = {}) => issueCredential(plan.did, primary, subject, changes),
    declare: (credential) => declareOperation({ text: credential }, ofCredential, signer(primary)),
    revoke: (id) => revokeOperation(id, ofCredential, signer(primary)),
  }
}

/** An authentication key for {@link DocumentPlan}. */
export function authenticationKey(fragment: string, { publicKey }: QuickSigner): PlannedKey {
  return { fragment, publicKey, use: 'authentication' }
}

export function authorizationKey(fragment: string, { publicKey }: QuickSigner, controller: string): PlannedKey {
  return { fragment, publicKey, use: 'authorization', controller }
}

/** A credential about `subject` as JSON text, signed with a key of the issuer's document that it names. */
export function issueCredential(
  issuer: string,
  key: QuickSigner,
  subject: string,
  changes: Record<string, unknown>,
  verificationMethod = '#primary',
): string {
  const members = {
    id: `${subject}#profile`,
    type: ['ProfileCredential'],
    issuer,
    issuanceDate: created,
    credentialSubject: { id: subject, name: 'Ada' },
    ...changes,
  }
  const proof = { verificationMethod, signature: encodeBase64url(new Uint8Array(64)) }
  const rules = { method: didRules.method, chain: true, names: true }
  const { signingText } = parseCredential(fromPlain({ ...members, proof }), '', rules, undefined)
  const signature = encodeBase64url(key.sign(fromUtf8(signingText)))
  return JSON.stringify({ ...members, proof: { ...proof, signature } })
}

/** DID states as a chain of one operation a transaction makes them; signatures are verified. */
export class Registry {
  readonly states = new Map<string, DidState>()
  /** Unix seconds of the block before. */
  time = 0
  readonly #credentials = new Map<string, CredentialState>()
  /** `count`: how many operations other DIDs have had. */
  constructor(
    readonly rules: DidRules = didRules,
    private count = 0,
  ) {}

  /** Applies an operation under the next txid, or throws the RuleError of its refusal and changes nothing. */
  apply(operation: DidOperation): AppliedOperation & { readonly txid: string } {
    const id = txid(this.count + 1)
    const parsed = parseOperation(operation, this.rules)
    const applied = applyOperation(this.states.get(parsed.did), parsed, {
      ...this.rules,
      txid: id,
      time: this.time,
      issuer: (did) => this.states.get(did),
      credential: (credential, did) => this.#credentials.get(`${did} ${credential}`),
      otherCredential: (credential, did) => this.#credentials.get(`${did} ${credential}`),
    })
    const failing = applied.checks.find((check) => !holds(check))
    if (failing !== undefined) throw new RuleError(failing.code, failing.subject)
    this.count++
    this.states.set(parsed.did, applied.next)
    if (applied.credential !== undefined) {
      const key = `${applied.credential.signer} ${applied.credential.id}`
      this.#credentials.set(key, nextCredentialState(this.#credentials.get(key), applied.credential))
    }
    return { ...applied, txid: id }
  }
}
