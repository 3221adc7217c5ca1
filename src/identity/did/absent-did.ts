import { addressOf, prefix } from '../../base/primitives/address.js'
import { didMethod } from '../../base/primitives/did-method.js'

/** The DID of the hash zero: its identifier is right, and no key has it. A resolver is tried out with it. */
export const absentDid = `did:${didMethod}:${addressOf(Uint8Array.of(prefix.did, ...new Uint8Array(20)))}`
