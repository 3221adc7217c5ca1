import { fromBase64urlBytes } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { type DidOperation, operationForm } from '../../base/primitives/did-operation.js'
import { hasName } from '../../base/primitives/did-name.js'
import { textMembers } from '../../base/primitives/text-members.js'
import { decodeBase64url } from './base64url.js'
import { didPart } from './identifier.js'

/** DIDs and credentials named by accepted operations, without reading the rest: a block can hold thousands, of documents of 128 KiB. */

/** The DID that an operation changes: its payload, or the `id` of the document in it; undefined if there is none. */
export function namedDid(operation: DidOperation): string | undefined {
  const form = operationForm(operation)
  if (form?.subject !== 'did') return undefined
  return form.payload === 'did' ? operation.payload : membersIn(operation.payload).get('id')
}

/** A credential that an operation is about. */
export interface NamedCredential {
  /** Absolute. */
  readonly id: string
  /** The DID in whose name it is declared or revoked. */
  readonly signer: string
  /** Issuer named by a declare. */
  readonly issuer?: string
  /** Expiry in a declare whose credential has one. */
  readonly expirationDate?: string
}

/** The credential that an operation declares or revokes; undefined if there is none. */
export function namedCredential(operation: DidOperation): NamedCredential | undefined {
  const form = operationForm(operation)
  if (form?.subject !== 'credential') return undefined
  const { payload, verificationMethod } = operation
  const signerFor = (id: string) => didPart(verificationMethod.startsWith('#') ? id : verificationMethod)
  const credential = form.payload === 'credential' ? membersIn(payload) : undefined
  const id = credential === undefined ? payload : credential.get('id')
  if (id?.includes('#') !== true) return undefined
  if (credential === undefined) return { id, signer: signerFor(id) }
  const issuer = issuerOf(credential, id)
  const expirationDate = credential.get('expirationDate')
  // A controller declares in the name of the holder.
  const signer = !hasName(didPart(id)) ? signerFor(id) : didPart(id)
  return { id, signer, issuer, ...defined({ expirationDate }) }
}

/**
 * The issuer of the credential in the payload of a declare that the chain accepted before, given as ASCII bytes; undefined if there is
 * none. Reads 128 KiB in about 0.2 ms, whatever they say: a block can hold thousands of operations that ask.
 */
export function issuerInPayload(payload: Uint8Array): string | undefined {
  const credential = textMembers(fromBase64urlBytes(payload), names)
  const id = credential.get('id')
  return id === undefined ? undefined : issuerOf(credential, id)
}

function issuerOf(credential: ReadonlyMap<string, string>, id: string): string {
  return credential.get('issuer') ?? didPart(id)
}

const names = new Set(['id', 'issuer', 'expirationDate'])

/** Text members of the JSON in base64url; none for other text. */
function membersIn(payload: string): ReadonlyMap<string, string> {
  const bytes = decodeBase64url(payload)
  try {
    return bytes === undefined ? new Map() : textMembers(bytes, names)
  } catch {
    return new Map()
  }
}
