import type { Code } from '../base/errors/error-codes.js'

/**
 * Data that decides whether a rule is broken, and so whether it may cost a peer points:
 * - `bytes`: the bytes and what they pin by hash (spent outputs, the previous operation of an update, the ancestors of a
 *   block). All nodes come to the same result, so an honest node never relays it;
 * - `link`: what the peer itself did on its connection, which no third party brings about;
 * - `state`: also the tip, the pool, the clock or the load of a node. Honest nodes differ, so it costs no points.
 */
export type Offence =
  | { readonly pinned: 'bytes' | 'link'; readonly points: number }
  | { readonly pinned: 'state'; readonly points: 0 }

/** A rule that the bytes and what they pin decide, and the points that it costs. */
const bytes = (points: number): Offence => ({ pinned: 'bytes', points })
/** A rule that the doings of the peer itself decide, and the points that it costs. */
const link = (points: number): Offence => ({ pinned: 'link', points })
/** A rule that the state of a node decides as well. */
const state: Offence = { pinned: 'state', points: 0 }

/** Points that each code costs a peer whose data breaks the rule. */
export const offences: Readonly<Record<Code, Offence>> = {
  // transactions: bytes alone
  'tx-malformed': bytes(10),
  'tx-type': bytes(10),
  'tx-size': bytes(10),
  'tx-ambiguous-size': bytes(10),
  'tx-input-count': bytes(10),
  'tx-input-repeated': bytes(10),
  'tx-input-coinbase': bytes(10),
  'tx-output-count': bytes(10),
  'tx-output-asset': bytes(10),
  'tx-output-address': bytes(10),
  'tx-output-type': bytes(10),
  'tx-output-value': bytes(10),
  'tx-attribute': bytes(10),
  'tx-program-count': bytes(10),
  'tx-program-form': bytes(10),
  'tx-payload-version': bytes(10),
  'tx-side-chain-height': bytes(10),
  'tx-signature-cost': bytes(10),

  // transactions: against the chain
  'tx-known': state,
  'tx-input-unknown': state,
  'tx-double-spend': state,
  'tx-input-value': bytes(10),
  'tx-output-locked': state,
  'tx-immature': state,
  'tx-balance': bytes(10),
  'tx-fee': state,
  'tx-not-final': state,
  'tx-program-mismatch': bytes(10),
  'tx-signature': bytes(10),
  'tx-side-chain-signer': state,
  'tx-side-chain-proved': state,

  // the pool
  'pool-coinbase': bytes(0),
  'pool-size': state,
  'pool-inputs': state,
  'pool-signature-cost': state,
  'pool-documents': state,
  'pool-full': state,
  'fee-too-low': state,
  'pool-ancestors': state,
  'pool-did-pending': state,
  'pool-replacement-fee': state,
  'pool-replacement-built-upon': state,
  'pool-replacements': state,
  'pool-unmineable': state,
  'pool-side-chain': state,

  // blocks: bytes alone
  'block-malformed': bytes(20),
  'block-size': bytes(20),
  'block-transaction-count': bytes(20),
  'block-merkle-root': bytes(20),
  'block-duplicate-transaction': bytes(20),
  'block-double-spend': bytes(50),
  'block-coinbase-position': bytes(50),
  'block-signature-cost': bytes(50),
  'block-signature-work': bytes(50),
  'block-issuer-documents': bytes(50),
  'coinbase-input': bytes(50),
  'coinbase-payload-version': bytes(50),
  'coinbase-height': bytes(50),
  'coinbase-program': bytes(20),
  'coinbase-commitment': bytes(50),
  'coinbase-witness-root': bytes(20),
  'coinbase-did-root': bytes(20),
  'coinbase-coin-root': bytes(20),
  'coinbase-validators': bytes(50),
  'coinbase-too-large': bytes(50),
  'coinbase-value': bytes(50),

  // blocks: against their ancestors
  'block-parent-unknown': state,
  'block-parent-invalid': bytes(50),
  'block-invalid': bytes(50),
  'block-height': bytes(50),
  'block-bits': bytes(50),
  'block-time-early': bytes(50),
  'block-time-future': state,
  'block-too-deep': state,
  'block-unsettled-full': state,
  'block-stale': state,
  'auxpow-malformed': bytes(20),
  'auxpow-size': bytes(20),
  'auxpow-parent': bytes(20),
  'auxpow-commitment': bytes(20),
  'auxpow-index': bytes(20),
  'auxpow-work': bytes(20),

  // work
  'template-stale': state,
  'mining-impossible': state,

  // what the node does not keep
  pruned: state,
  'proof-unavailable': state,

  // peers that a request names
  'peer-unreachable': state,

  // backups
  'backup-failed': state,

  // confirms
  'confirm-malformed': bytes(20),
  'confirm-missing': bytes(0),
  'confirm-unexpected': bytes(20),
  'confirm-block': bytes(20),
  'confirm-sponsor': bytes(50),
  'confirm-signer': bytes(50),
  'confirm-vote': bytes(50),
  'confirm-quorum': bytes(50),
  'confirm-signature': bytes(50),

  // voting messages
  'vote-malformed': bytes(20),
  'vote-height': state,
  'vote-signer': bytes(50),
  'vote-sponsor': bytes(50),
  'vote-block': bytes(50),
  'vote-proof': bytes(50),
  'vote-signature': bytes(50),
  'vote-candidate': bytes(20),

  // peers
  'peer-message': bytes(20),
  'peer-genesis': state,
  'peer-upgrades': state,
  'peer-version': state,
  'peer-self': state,
  'peer-banned': state,
  'peer-crowded': state,
  'peer-flood': link(20),
  'peer-slow': state,
  'peer-withheld': link(20),
  'peer-headers': bytes(50),
  'peer-state': bytes(100),

  // JSON that rules read
  'json-utf8': bytes(10),
  'json-syntax': bytes(10),
  'json-depth': bytes(10),
  'json-tokens': bytes(10),
  'json-duplicate-name': bytes(10),
  'json-name': bytes(10),
  'json-text': bytes(10),
  'json-number': bytes(10),

  // DID operations: the operation alone
  'did-operation-form': bytes(10),
  'did-operation-unknown': bytes(10),
  'did-names': state,
  'did-credential-operation': state,
  'did-specification': state,
  'did-previous-form': bytes(10),
  'did-payload-encoding': bytes(10),
  'did-payload-size': bytes(10),
  'did-payload-did': bytes(10),
  'did-payload-credential': bytes(10),
  'did-proof-type': bytes(10),
  'did-verification-method': bytes(10),
  'did-ticket-form': bytes(10),
  'did-signature-form': bytes(10),

  // DID operations: against the state
  'did-exists': state,
  'did-unknown': state,
  'did-deactivated': state,
  'did-previous-txid': state,
  'did-signer': state,
  'did-signature': state,
  'did-controller': state,
  'did-controllers': state,
  'did-ticket': state,
  'did-ticket-proof': state,

  // DID documents
  'document-form': bytes(10),
  'document-member': bytes(10),
  'document-core': state,
  'document-controller': bytes(10),
  'document-text': bytes(10),
  'document-date': bytes(10),
  'document-did': bytes(10),
  'document-id': bytes(10),
  'document-duplicate-id': bytes(10),
  'document-key': bytes(10),
  'document-duplicate-key': bytes(10),
  'document-default-key': bytes(10),
  'document-reference': bytes(10),
  'document-entries': bytes(10),
  'document-proof-missing': bytes(10),
  'document-proof-creator': bytes(10),
  'document-proof': bytes(10),

  // credentials
  'credential-type': bytes(10),
  'credential-subject': bytes(10),
  'credential-key': state,
  'credential-declared': state,
  'credential-revoked': state,
  'credential-revoker': state,
  'credential-issuer-unknown': state,
  'credential-issuer-deactivated': state,
  'credential-foreign-limit': bytes(10),
  'credential-proof': state,

  // requests
  'request-path': state,
  'request-method': state,
  'request-action': state,
  'request-parameter': state,
  'query-invalid': state,
  'request-json': state,
  'request-form': state,
  'request-headers': state,
  'request-media-type': state,
  'request-too-large': state,
  'request-timeout': state,
  'request-forbidden': state,
  'request-rate': state,
  'unknown-transaction': state,
  'unknown-block': state,
  'unknown-confirm': state,
  'coins-too-few': state,
  'snapshot-limit': state,
  'request-upgrade': state,
  'event-gone': state,
  'subscription-limit': state,
  overloaded: state,
  'history-size': state,
  'answer-unproved': state,
  'resolver-behind': state,
  'followed-unreachable': state,
  'gateway-reads-only': state,
  'shards-apart': state,
  'shard-down': state,
  'row-damaged': state,
  'behind-height': state,
  busy: state,
  internal: state,
}

/** The points that a code costs; 0 where honest nodes may differ. */
export function penaltyOf(code: Code): number {
  return offences[code].points
}
