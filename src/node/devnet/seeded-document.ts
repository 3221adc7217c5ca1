import { quickSigner } from '../../base/crypto/quick-signer.js'
import {
  buildCreate,
  buildDocument,
  primaryFragment,
  signCredential,
  planNew,
  type Sign,
} from '../../identity/did/build.js'
import { formatDate } from '../../identity/did/date.js'
import { InvariantError } from '../../base/errors/rule-error.js'
import { didFromPublicKey } from '../../base/primitives/address.js'
import { fromUtf8 } from '../../base/primitives/bytes.js'
import type { DidOperation } from '../../base/primitives/did-operation.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import { didMethod } from '../../base/primitives/did-method.js'

/** One of the DIDs that a devnet registers to begin with. */
export interface SeededDid {
  /** From 0. */
  readonly index: number
  readonly did: string
  readonly sign: Sign
  readonly publicKey: Uint8Array
  /** Its signatures so far; they hold, and need not be verified. */
  readonly made: readonly MadeSignature[]
}

/** A signature of a key over a message, as its check is named. */
export type MadeSignature = Pick<SignatureCheck, 'message' | 'keys' | 'signatures'>

const firstNames = ['Ada', 'Alan', 'Barbara', 'Donald', 'Edsger', 'Frances', 'Grace', 'John', 'Katherine', 'Tim']
const nations = ['AT', 'BR', 'CH', 'DE', 'FR', 'JP', 'KE', 'NZ', 'US']
const year = 365 * 86_400

/** The DID of a private key. */
export function seededDid(index: number, privateKey: Uint8Array | undefined): SeededDid {
  if (privateKey === undefined) throw new InvariantError(`the seeded DID ${index} has no key`)
  const { publicKey, sign } = quickSigner(privateKey)
  const did = didFromPublicKey(publicKey, { method: didMethod })
  const made: MadeSignature[] = []
  return {
    ...{ index, did, publicKey, made },
    sign: (text) => {
      const message = fromUtf8(text)
      const signature = sign(message)
      made.push({ message, keys: [publicKey], signatures: [signature] })
      return signature
    },
  }
}

/**
 * The create of a seeded DID at a time in Unix seconds. All of its document but dates and signatures follows from its number: up to
 * three services, for two of three a credential that it issues to itself, and one to five years until it expires.
 */
export function seededCreate(
  { index, did, publicKey, sign }: SeededDid,
  now: number,
  specification: string,
): DidOperation {
  const created = formatDate(now)
  const plan = planNew({
    method: didMethod,
    primary: publicKey,
    expires: formatDate(now + (1 + (index % 5)) * year),
    created,
  })
  const services = [
    { id: '#home', type: 'LinkedDomains', serviceEndpoint: `https://member-${index}.example` },
    ...(index % 2 === 0
      ? [{ id: '#messages', type: 'DIDCommMessaging', serviceEndpoint: `https://agents.example/${index % 40}` }]
      : []),
    ...(index % 5 === 0
      ? [{ id: '#vault', type: 'PersonalDataStore', serviceEndpoint: `https://vault-${index % 7}.example/${index}` }]
      : []),
  ]
  const credentials = index % 3 === 2 ? [] : [profile({ index, did }, now, sign)]
  const document = buildDocument({ ...plan, services, credentials }, sign)
  return buildCreate(document, { specification, verificationMethod: `#${primaryFragment}` }, sign)
}

function profile({ index, did }: Pick<SeededDid, 'index' | 'did'>, now: number, sign: Sign): string {
  const members = {
    id: `${did}#profile`,
    type: index % 2 === 0 ? ['BasicProfileCredential', 'SelfProclaimedCredential'] : ['EmailCredential'],
    issuer: did,
    issuanceDate: formatDate(now),
    expirationDate: formatDate(now + year),
    credentialSubject: {
      id: did,
      name: `${firstNames[index % firstNames.length]} ${index}`,
      nation: nations[index % nations.length],
      email: `member-${index}@example.org`,
    },
  }
  return signCredential(members, { method: didMethod, key: `#${primaryFragment}` }, sign)
}
