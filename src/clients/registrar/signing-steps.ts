import type { DidOperation } from '../../base/primitives/did-operation.js'
import {
  buildCreate,
  buildDeactivate,
  buildDocument,
  buildUpdate,
  type DocumentPlan,
  type Sign,
} from '../../identity/did/build.js'
import { relativeId } from '../../identity/did/identifier.js'

/** Operations whose texts others sign: a generator asks for one signature after another, and returns the signed operation. */

/** A text that is to be signed. */
export interface SigningAsk {
  /** Name of the request: `document` or `operation`. */
  readonly name: 'document' | 'operation'
  /** UTF-8 of it is signed: ECDSA of P-256 over its SHA-256. */
  readonly text: string
  readonly key: AskedKey
}

/** A key of which a signature is asked. */
export interface AskedKey {
  /** Absolute. */
  readonly id: string
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
}

/** Asks for signatures r‖s of 64 bytes, which the caller has verified. */
export type SigningSteps = Generator<SigningAsk, DidOperation, Uint8Array>

/** Builds twice: the first time to learn the text, the second time with its signature. */
function* signed<T>(
  name: SigningAsk['name'],
  key: AskedKey,
  build: (sign: Sign) => T,
): Generator<SigningAsk, T, Uint8Array> {
  let text = ''
  build((one) => {
    text = one
    return new Uint8Array(64)
  })
  const signature = yield { name, text, key }
  return build(() => signature)
}

/** The create of a document, whose proof and operation the default key signs. */
export function* createSteps(plan: DocumentPlan, key: AskedKey, specification: string): SigningSteps {
  const document = yield* signed('document', key, (sign) => buildDocument(plan, sign))
  const verificationMethod = relativeId(key.id, plan.did)
  return yield* signed('operation', key, (sign) => buildCreate(document, { specification, verificationMethod }, sign))
}

/** The update to a document, likewise; `previousTxid`: display hex of the last operation of the DID. */
export function* updateSteps(
  plan: DocumentPlan,
  key: AskedKey,
  { specification, previousTxid }: { readonly specification: string; readonly previousTxid: string },
): SigningSteps {
  const document = yield* signed('document', key, (sign) => buildDocument(plan, sign))
  const verificationMethod = relativeId(key.id, plan.did)
  return yield* signed('operation', key, (sign) =>
    buildUpdate(document, { specification, verificationMethod, previousTxid }, sign),
  )
}

/** The deactivate of a DID by a key that its document lists. */
export function* deactivateSteps(did: string, key: AskedKey, specification: string): SigningSteps {
  const verificationMethod = relativeId(key.id, did)
  return yield* signed('operation', key, (sign) => buildDeactivate(did, { specification, verificationMethod }, sign))
}
