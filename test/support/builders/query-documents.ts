import type { Members } from '../../../src/identity/did-query/member-path.js'

const did = 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'

/** A credential in normalised form. */
export function credential(types: readonly string[], claims: Members = {}, changes: Members = {}): Members {
  return {
    id: `${did}#${types.join('-').toLowerCase()}`,
    type: types,
    issuer: did,
    issuanceDate: '2026-01-01T00:00:00Z',
    credentialSubject: { id: did, ...claims },
    ...changes,
  }
}

/** A service of a type, with further members. */
export function service(type: string, members: Members = {}): Members {
  return {
    id: `${did}#${type.toLowerCase()}`,
    type,
    serviceEndpoint: `https://${type.toLowerCase()}.example`,
    ...members,
  }
}

/** A normalised document with some members beside those that all have. */
export function document(members: Members = {}): Members {
  return {
    id: did,
    publicKey: [
      { id: `${did}#primary`, type: 'ECDSAsecp256r1', controller: did, publicKeyBase58: 'jSmJejYNtBjWasdUoDMj' },
      { id: `${did}#recovery`, type: 'ECDSAsecp256r1', controller: did, publicKeyBase58: 'xLiqm2MS6uq8KSC9b1Xg' },
    ],
    authentication: [`${did}#primary`, `${did}#recovery`],
    ...members,
    expires: '2030-01-01T00:00:00Z',
    proof: { type: 'ECDSAsecp256r1', creator: `${did}#primary`, signatureValue: 'x' },
  }
}

/** A document whose one credential of type T has these claims. */
export function claiming(claims: Members): Members {
  return document({ verifiableCredential: [credential(['T'], claims)] })
}

/** A document whose one service of type S has these further members. */
export function serving(members: Members): Members {
  return document({ service: [service('S', members)] })
}
