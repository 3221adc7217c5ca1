import bs58 from 'bs58'
import { addressFromPublicKey, addressOf, didFromPublicKey, didProgramHash } from '../../base/primitives/address.js'
import { fromHex } from '../../base/primitives/bytes.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { isCompressed } from '../../base/primitives/p256.js'
import { parseCode } from '../../base/primitives/program.js'
import { type Members, objectsIn, textIn } from './payload.js'

/** The DID and the address that one key has. Pure. */

/** Characters of the longest text of a key in base58; decoding takes time by their square. */
const longestKey = 46

/** The bytes of a key in base58; undefined for text that is none. */
export function keyBytes(publicKey: string): Uint8Array | undefined {
  const bytes = publicKey.length > longestKey ? undefined : bs58.decodeUnsafe(publicKey)
  return bytes !== undefined && isCompressed(bytes) ? bytes : undefined
}

/** Whether the DID is that of a key in base58. */
export function derives(publicKey: string, did: string): boolean {
  const bytes = keyBytes(publicKey)
  return bytes !== undefined && did.endsWith(`:${addressOf(didProgramHash(bytes))}`)
}

/** The address of the key that a document's DID is derived from; undefined where the document does not hold it. */
export function addressOfDocument(document: Members): string | undefined {
  const did = textIn(document, 'id') ?? ''
  const keys = objectsIn(document, 'publicKey').map((key) => textIn(key, 'publicKeyBase58') ?? '')
  const bytes = keyBytes(keys.find((key) => derives(key, did)) ?? '')
  return bytes && addressFromPublicKey(bytes)
}

/** The DID of the key that an address belongs to, from the code of a program, in hex, that spent its coins; undefined for other codes. */
export function didOfCode(code: string, address: string): string | undefined {
  const script = parseCode(fromHex(code) ?? new Uint8Array())
  const [key] = script?.kind === 'standard' ? script.keys : []
  if (key === undefined || addressFromPublicKey(key) !== address) return undefined
  return didFromPublicKey(key, { method: didMethod })
}
