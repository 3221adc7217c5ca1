import { DataIntegrityProof } from '@digitalbazaar/data-integrity'
import * as dataIntegrity from '@digitalbazaar/data-integrity-context'
import * as EcdsaMultikey from '@digitalbazaar/ecdsa-multikey'
import { cryptosuite } from '@digitalbazaar/ecdsa-rdfc-2019-cryptosuite'
import * as multikey from '@digitalbazaar/multikey-context'
import * as vc from '@digitalbazaar/vc'
import bs58 from 'bs58'
import type { Resolver } from 'did-resolver'
import type { SigningAccount } from '../../../src/clients/wallet/accounts.js'

/** Credentials of Digital Bazaar's suite, with a Data Integrity proof by a key of a DID of the chain. */

/** Multicodec of a private key of P-256, and the base58 text of multibase. */
const secretKeyOf = ({ privateKey }: SigningAccount) => `z${bs58.encode(Uint8Array.of(0x86, 0x26, ...privateKey))}`
const publicKeyOf = ({ publicKey }: SigningAccount) => `z${bs58.encode(Uint8Array.of(0x80, 0x24, ...publicKey))}`

const contexts = new Map([...dataIntegrity.contexts, ...multikey.contexts])

/** Loads DIDs by the resolver, and contexts from the suite. */
export function loaderOf(resolver: Resolver) {
  return async (url: string) => {
    const context = contexts.get(url)
    if (context !== undefined) return { contextUrl: null, documentUrl: url, document: context }
    if (!url.startsWith('did:')) return vc.defaultDocumentLoader(url)
    const [did = '', fragment] = url.split('#')
    const { didDocument, didResolutionMetadata } = await resolver.resolve(did)
    if (didDocument === null) throw new Error(`${url}: ${didResolutionMetadata.error}`)
    const method = didDocument.verificationMethod?.find(({ id }) => id === url)
    if (fragment !== undefined && method === undefined) throw new Error(`${url} is not there`)
    const document =
      method === undefined ? didDocument : { '@context': 'https://w3id.org/security/multikey/v1', ...method }
    return { contextUrl: null, documentUrl: url, document }
  }
}

export async function issueByIntegrity(
  account: SigningAccount,
  credential: object,
  resolver: Resolver,
): Promise<object> {
  const key = await EcdsaMultikey.from({
    '@context': 'https://w3id.org/security/multikey/v1',
    id: `${account.did}#primary`,
    type: 'Multikey',
    controller: account.did,
    publicKeyMultibase: publicKeyOf(account),
    secretKeyMultibase: secretKeyOf(account),
  })
  const suite = new DataIntegrityProof({ signer: key.signer(), cryptosuite })
  return vc.issue({ credential, suite, documentLoader: loaderOf(resolver) })
}

export async function verifyByIntegrity(
  credential: object,
  resolver: Resolver,
  isRevoked: (credential: object) => Promise<boolean>,
): Promise<{ verified: boolean; error?: unknown }> {
  const checkStatus = async ({ credential }: { credential: object }) => {
    try {
      const revoked = await isRevoked(credential)
      return revoked ? { verified: false, error: new Error('revoked') } : { verified: true }
    } catch (error) {
      return { verified: false, error }
    }
  }
  const suite = new DataIntegrityProof({ cryptosuite })
  return vc.verifyCredential({ credential, suite, documentLoader: loaderOf(resolver), checkStatus })
}
