import { keyOfIdentifier } from '../../base/primitives/did-key.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { longestName } from '../../base/primitives/did-name.js'

const didForm = new RegExp(`^did:${didMethod}:([A-Za-z0-9._-]{1,${longestName}})(?=$|#)`)

/** The DID of this chain that a text is, or that stands before its fragment; undefined for others, those of another method too. Pure. */
export function referredDid(text: string): string | undefined {
  const [did, identifier = ''] = didForm.exec(text) ?? []
  return keyOfIdentifier(identifier) === undefined ? undefined : did
}
