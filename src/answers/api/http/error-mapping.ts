import type { Code } from '../../../base/errors/error-codes.js'

/** Texts of `Desc` in REST for each of its numeric codes (the family's table). */
export const restDescriptions: Readonly<Record<number, string>> = {
  0: 'Success',
  41003: 'Illegal Dataformat',
  42001: 'Invalid method',
  42002: 'Invalid Params',
  42003: 'Verify token error',
  43001: 'Invalid transaction',
  44001: 'Unknown Transaction',
  44003: 'Unknown Block',
  44004: 'Unknown Confirm',
  45002: 'Internal error',
  45003: 'INTERNAL ERROR, ErrInvalidInput',
  45004: 'INTERNAL ERROR, ErrInvalidOutput',
  45006: 'INTERNAL ERROR, ErrTransactionBalance',
  45007: 'INTERNAL ERROR, ErrAttributeProgram',
  45008: 'INTERNAL ERROR, ErrTransactionSignature',
  45009: 'INTERNAL ERROR, ErrTransactionPayload',
  45010: 'INTERNAL ERROR, ErrDoubleSpend',
  45011: 'INTERNAL ERROR, ErrTransactionDuplicate',
  45015: 'INTERNAL ERROR, ErrTransactionSize',
  45016: 'INTERNAL ERROR, ErrUnknownReferredTx',
  45018: 'INTERNAL ERROR, ErrIneffectiveCoinbase',
  45019: 'Error utxo locked',
  45020: 'Error sidechain pow consensus',
  45024: 'Error transactions size of transaction pool',
}

/** Numbers of the interfaces for one code. */
export interface InterfaceError {
  /** REST `Error` number; its `Desc` is in {@link restDescriptions}. */
  readonly rest: number
  /** HTTP status of the REST answer. */
  readonly http: number
  /** JSON-RPC error code. */
  readonly rpc: number
}

/** A refused transaction: HTTP 400, JSON-RPC -32000. */
const transaction = (rest: number): InterfaceError => ({ rest, http: 400, rpc: -32000 })
/** A refused block, header or confirm. REST never reports one, JSON-RPC does for submitted work. */
const block = transaction(45002)
/** A request that names or asks for the wrong thing. */
const request = (rest: number, http: number, rpc: number): InterfaceError => ({ rest, http, rpc })

/** Numbers of REST and JSON-RPC for each code. */
export const interfaceErrors: Readonly<Record<Code, InterfaceError>> = {
  // transactions: bytes alone
  'tx-malformed': transaction(43001),
  'tx-type': transaction(45009),
  'tx-size': transaction(45015),
  'tx-ambiguous-size': transaction(45015),
  'tx-input-count': transaction(45003),
  'tx-input-repeated': transaction(45003),
  'tx-input-coinbase': transaction(45003),
  'tx-output-count': transaction(45004),
  'tx-output-asset': transaction(45004),
  'tx-output-address': transaction(45004),
  'tx-output-type': transaction(45004),
  'tx-output-value': transaction(45004),
  'tx-attribute': transaction(45007),
  'tx-program-count': transaction(45007),
  'tx-program-form': transaction(45007),
  'tx-payload-version': transaction(45009),
  'tx-side-chain-height': transaction(45009),
  'tx-signature-cost': transaction(45008),

  // transactions: against the chain
  'tx-known': transaction(45011),
  'tx-input-unknown': transaction(45016),
  'tx-double-spend': transaction(45010),
  'tx-input-value': transaction(45003),
  'tx-output-locked': transaction(45019),
  'tx-immature': transaction(45018),
  'tx-balance': transaction(45006),
  'tx-fee': transaction(45006),
  'tx-not-final': transaction(45003),
  'tx-program-mismatch': transaction(45007),
  'tx-signature': transaction(45008),
  'tx-side-chain-signer': transaction(45020),
  'tx-side-chain-proved': transaction(45020),

  // the pool
  'pool-coinbase': transaction(43001),
  'pool-size': transaction(45015),
  'pool-inputs': transaction(45015),
  'pool-signature-cost': transaction(45008),
  'pool-documents': transaction(45009),
  'pool-full': transaction(45024),
  'fee-too-low': transaction(45024),
  'pool-ancestors': transaction(45024),
  'pool-did-pending': transaction(45024),
  'pool-replacement-fee': transaction(45010),
  'pool-replacement-built-upon': transaction(45010),
  'pool-replacements': transaction(45010),
  'pool-unmineable': transaction(43001),
  'pool-side-chain': transaction(45020),

  // blocks: bytes alone
  'block-malformed': block,
  'block-size': block,
  'block-transaction-count': block,
  'block-merkle-root': block,
  'block-duplicate-transaction': block,
  'block-double-spend': block,
  'block-coinbase-position': block,
  'block-signature-cost': block,
  'block-signature-work': block,
  'block-issuer-documents': block,
  'coinbase-input': block,
  'coinbase-payload-version': block,
  'coinbase-height': block,
  'coinbase-program': block,
  'coinbase-commitment': block,
  'coinbase-witness-root': block,
  'coinbase-did-root': block,
  'coinbase-coin-root': block,
  'coinbase-validators': block,
  'coinbase-too-large': block,
  'coinbase-value': block,

  // blocks: against their ancestors
  'block-parent-unknown': block,
  'block-parent-invalid': block,
  'block-invalid': block,
  'block-height': block,
  'block-bits': block,
  'block-time-early': block,
  'block-time-future': block,
  'block-too-deep': block,
  'block-unsettled-full': block,
  'block-stale': block,
  'auxpow-malformed': block,
  'auxpow-size': block,
  'auxpow-parent': block,
  'auxpow-commitment': block,
  'auxpow-index': block,
  'auxpow-work': block,

  // work
  'template-stale': request(45002, 400, -32007),
  'mining-impossible': request(45002, 400, -32008),

  // what the node does not keep
  pruned: request(44003, 404, -32021),
  'proof-unavailable': request(44003, 404, -32012),

  // peers that a request names
  'peer-unreachable': request(45002, 400, -32009),

  // backups
  'backup-failed': request(45002, 400, -32020),

  // confirms
  'confirm-malformed': block,
  'confirm-missing': block,
  'confirm-unexpected': block,
  'confirm-block': block,
  'confirm-sponsor': block,
  'confirm-signer': block,
  'confirm-vote': block,
  'confirm-quorum': block,
  'confirm-signature': block,

  // voting messages
  'vote-malformed': block,
  'vote-height': block,
  'vote-signer': block,
  'vote-sponsor': block,
  'vote-block': block,
  'vote-proof': block,
  'vote-signature': block,
  'vote-candidate': block,

  // peers
  'peer-message': block,
  'peer-genesis': block,
  'peer-upgrades': block,
  'peer-version': block,
  'peer-self': block,
  'peer-banned': block,
  'peer-crowded': block,
  'peer-flood': block,
  'peer-slow': block,
  'peer-withheld': block,
  'peer-headers': block,
  'peer-state': block,

  // JSON that rules read
  'json-utf8': transaction(45009),
  'json-syntax': transaction(45009),
  'json-depth': transaction(45009),
  'json-tokens': transaction(45009),
  'json-duplicate-name': transaction(45009),
  'json-name': transaction(45009),
  'json-text': transaction(45009),
  'json-number': transaction(45009),

  // DID operations: the operation alone
  'did-operation-form': transaction(45009),
  'did-operation-unknown': transaction(45009),
  'did-names': transaction(45009),
  'did-credential-operation': transaction(45009),
  'did-specification': transaction(45009),
  'did-previous-form': transaction(45009),
  'did-payload-encoding': transaction(45009),
  'did-payload-size': transaction(45009),
  'did-payload-did': transaction(45009),
  'did-payload-credential': transaction(45009),
  'did-proof-type': transaction(45009),
  'did-verification-method': transaction(45009),
  'did-ticket-form': transaction(45009),
  'did-signature-form': transaction(45009),

  // DID operations: against the state
  'did-exists': transaction(45009),
  'did-unknown': transaction(45009),
  'did-deactivated': transaction(45009),
  'did-previous-txid': transaction(45009),
  'did-signer': transaction(45009),
  'did-signature': transaction(45008),
  'did-controller': transaction(45009),
  'did-controllers': transaction(45009),
  'did-ticket': transaction(45009),
  'did-ticket-proof': transaction(45008),

  // DID documents
  'document-form': transaction(45009),
  'document-member': transaction(45009),
  'document-core': transaction(45009),
  'document-controller': transaction(45009),
  'document-text': transaction(45009),
  'document-date': transaction(45009),
  'document-did': transaction(45009),
  'document-id': transaction(45009),
  'document-duplicate-id': transaction(45009),
  'document-key': transaction(45009),
  'document-duplicate-key': transaction(45009),
  'document-default-key': transaction(45009),
  'document-reference': transaction(45009),
  'document-entries': transaction(45009),
  'document-proof-missing': transaction(45009),
  'document-proof-creator': transaction(45009),
  'document-proof': transaction(45008),

  // credentials
  'credential-type': transaction(45009),
  'credential-subject': transaction(45009),
  'credential-key': transaction(45009),
  'credential-declared': transaction(45009),
  'credential-revoked': transaction(45009),
  'credential-revoker': transaction(45009),
  'credential-issuer-unknown': transaction(45009),
  'credential-issuer-deactivated': transaction(45009),
  'credential-foreign-limit': transaction(45009),
  'credential-proof': transaction(45008),

  // requests
  'request-path': request(42001, 404, -32601),
  'request-method': request(42001, 405, -32601),
  'request-action': request(42001, 400, -32601),
  'request-parameter': request(42002, 400, -32602),
  'query-invalid': request(42002, 400, -32602),
  'request-json': request(41003, 400, -32700),
  'request-form': request(41003, 400, -32600),
  'request-headers': request(41003, 431, -32600),
  'request-media-type': request(41003, 415, -32700),
  'request-too-large': request(41003, 413, -32600),
  'request-timeout': request(45002, 408, -32005),
  'request-forbidden': request(42003, 403, -32010),
  'request-rate': request(45002, 429, -32005),
  'unknown-transaction': request(44001, 404, -32002),
  'unknown-block': request(44003, 404, -32004),
  'unknown-confirm': request(44004, 404, -32004),
  'coins-too-few': request(45002, 400, -32011),
  'snapshot-limit': request(45002, 503, -32005),
  'request-upgrade': request(41003, 426, -32600),
  'event-gone': request(42002, 400, -32006),
  'subscription-limit': request(45002, 429, -32005),
  overloaded: request(45002, 429, -32024),
  'history-size': request(45002, 413, -32005),
  'answer-unproved': request(45002, 502, -32013),
  'resolver-behind': request(45002, 503, -32001),
  'followed-unreachable': request(45002, 502, -32023),
  'gateway-reads-only': request(42003, 503, -32601),
  'shards-apart': request(45002, 503, -32005),
  'shard-down': request(45002, 503, -32603),
  'row-damaged': request(45002, 500, -32603),
  'behind-height': request(45002, 503, -32022),
  busy: request(45002, 503, -32005),
  internal: request(45002, 500, -32603),
}
