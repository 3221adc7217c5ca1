import { utf8 } from '../primitives/bytes.js'
import { defined } from '../primitives/defined.js'
import { type DidOperation, operationForm } from '../primitives/did-operation.js'
import { decodeBase64url } from './base64url.js'
import { didPart } from './identifier.js'

/**
 * What accepted operations name, without reading the rest. Every JSON parser reads an accepted text the same way, so the fastest
 * one is used.
 */

/** The DID that an operation changes: its payload, or the `id` of the document in it; undefined if there is none. */
export function namedDid(operation: DidOperation): string | undefined {
  const form = operationForm(operation)
  if (form?.subject !== 'did') return undefined
  return form.payload === 'did' ? operation.payload : textMember(jsonOf(operation.payload), 'id')
}

/** A credential that an operation is about. */
export interface NamedCredential {
  /** Absolute. */
  readonly id: string
  /** The DID in whose name it is declared or revoked. */
  readonly signer: string
  /** Of a declare. */
  readonly issuer?: string
  /** Of a declare whose credential has one. */
  readonly expirationDate?: string
}

/** The credential that an operation declares or revokes; undefined if there is none. */
export function namedCredential(operation: DidOperation): NamedCredential | undefined {
  const form = operationForm(operation)
  if (form?.subject !== 'credential') return undefined
  const { payload, verificationMethod } = operation
  const signerFor = (id: string) => didPart(verificationMethod.startsWith('#') ? id : verificationMethod)
  const credential = form.payload === 'credential' ? jsonOf(payload) : undefined
  const id = form.payload === 'credential' ? textMember(credential, 'id') : payload
  if (id?.includes('#') !== true) return undefined
  if (form.payload === 'credential-id') return { id, signer: signerFor(id) }
  const issuer = textMember(credential, 'issuer') ?? didPart(id)
  const expirationDate = textMember(credential, 'expirationDate')
  return { id, signer: signerFor(id), issuer, ...defined({ expirationDate }) }
}

/** The JSON in base64url; undefined for other text. */
function jsonOf(payload: string): unknown {
  const bytes = decodeBase64url(payload)
  try {
    return JSON.parse((bytes && utf8(bytes)) ?? '')
  } catch {
    return undefined
  }
}

function textMember(object: unknown, name: string): string | undefined {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined
  const value: unknown = (object as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : undefined
}
