/**
 * Every way a rule can be broken, once: the code, what it means, and what each interface and a peer make of it.
 * docs/errors.md is generated from this file.
 */

/** What REST reports in `Desc` for each of its numeric codes (the family's table). */
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

/**
 * What decides that a rule is broken, and so whether a peer may be charged for it:
 * - `bytes`: the bytes and what they pin by hash (spent outputs, the previous operation of an update, the ancestors of a
 *   block). All nodes come to the same result, so an honest node never relays it;
 * - `link`: what the peer itself did on its connection, which no third party brings about;
 * - `state`: also the tip, the pool, the clock or the load of a node. Honest nodes differ, so it costs no points.
 */
export type Blame =
  { readonly pinned: 'bytes' | 'link'; readonly penalty: number } | { readonly pinned: 'state'; readonly penalty: 0 }

/** What one broken rule means to each interface. */
export type CodeEntry = Blame & {
  /** REST `Error` number; its `Desc` is in {@link restDescriptions}. */
  readonly rest: number
  /** HTTP status of the REST answer. */
  readonly http: number
  /** JSON-RPC error code. */
  readonly rpc: number
  /** Points a peer loses for sending this; at 100 its key is banned. */
  readonly penalty: number
  /** One sentence for the reference page. */
  readonly meaning: string
}

/** A rule that the bytes and what they pin decide, and the points that it costs. */
const bytes = (penalty: number): Blame => ({ pinned: 'bytes', penalty })
/** A rule that the doings of the peer itself decide, and the points that it costs. */
const link = (penalty: number): Blame => ({ pinned: 'link', penalty })
/** A rule that the state of a node decides as well. */
const state: Blame = { pinned: 'state', penalty: 0 }

const entry = (rest: number, http: number, rpc: number, blame: Blame, meaning: string): CodeEntry => ({
  rest,
  http,
  rpc,
  ...blame,
  meaning,
})
/** A refused transaction: HTTP 400, JSON-RPC -32000. */
const tx = (rest: number, blame: Blame, meaning: string) => entry(rest, 400, -32000, blame, meaning)
/** A refused block, header or confirm. REST never reports one, JSON-RPC does for submitted work. */
const block = (blame: Blame, meaning: string) => entry(45002, 400, -32000, blame, meaning)
/** A request that names or asks for the wrong thing. */
const request = (rest: number, http: number, rpc: number, meaning: string) => entry(rest, http, rpc, state, meaning)

export const codes = {
  // --- transactions: bytes alone -------------------------------------------------------------------------------
  'tx-malformed': tx(43001, bytes(10), 'the bytes are no transaction, or more than one'),
  'tx-type': tx(45009, bytes(10), 'this transaction type is not accepted on the chain'),
  'tx-size': tx(45015, bytes(10), 'larger than a block may be'),
  'tx-ambiguous-size': tx(45015, bytes(10), 'the unsigned part is 64 bytes long and could be taken for a merkle node'),
  'tx-input-count': tx(45003, bytes(10), 'an ordinary transaction needs at least one input'),
  'tx-input-repeated': tx(45003, bytes(10), 'the same outpoint is spent twice in one transaction'),
  'tx-input-coinbase': tx(45003, bytes(10), 'an ordinary transaction may not name the coinbase outpoint'),
  'tx-output-count': tx(45004, bytes(10), 'a transaction needs 1 to 65535 outputs'),
  'tx-output-asset': tx(45004, bytes(10), 'only the native asset exists'),
  'tx-output-address': tx(45004, bytes(10), 'the output pays an address prefix that is not accepted'),
  'tx-output-type': tx(45004, bytes(10), 'version 9 outputs must be of type 0'),
  'tx-output-value': tx(45004, bytes(10), 'an amount, or the sum of the outputs, is negative or beyond the supply'),
  'tx-attribute': tx(
    45007,
    bytes(10),
    'more than 16 attributes, one above 1024 bytes, or a Script attribute of another form',
  ),
  'tx-program-count': tx(45007, bytes(10), 'a transaction needs at least one program'),
  'tx-program-form': tx(45007, bytes(10), 'a program is neither standard, nor DID script, nor canonical multisig'),
  'tx-payload-version': tx(45009, bytes(10), 'this type does not have that payload version'),
  'tx-side-chain-height': tx(45009, bytes(10), 'a side-chain block height is 2^29 or more'),
  'tx-signature-cost': tx(45008, bytes(10), 'the transaction costs more signature checks than one may'),

  // --- transactions: against the chain ---------------------------------------------------------------------------
  'tx-known': tx(45011, state, 'the transaction is on the chain or in the pool already'),
  'tx-input-unknown': tx(45016, state, 'an input refers to an output that does not exist'),
  'tx-double-spend': tx(45010, state, 'an input is spent already'),
  'tx-input-value': tx(45003, bytes(10), 'the inputs add up to more than the supply'),
  'tx-output-locked': tx(45019, state, 'a locked output needs sequence 0xfffffffe and a lockTime at or above its lock'),
  'tx-immature': tx(45018, state, 'a coinbase output is spent before it matures'),
  'tx-balance': tx(45006, bytes(10), 'the outputs exceed the inputs'),
  'tx-fee': tx(45006, state, 'the fee is below the minimum of the chain'),
  'tx-not-final': tx(45003, state, 'the lockTime is not reached'),
  'tx-program-mismatch': tx(45007, bytes(10), 'the programs are not those of the spent outputs and Script attributes'),
  'tx-signature': tx(45008, bytes(10), 'a program signature does not verify'),
  'tx-side-chain-signer': tx(45020, state, 'a side-chain proof of work is not signed by a validator in force'),

  // --- the pool ----------------------------------------------------------------------------------------------------
  'pool-coinbase': tx(43001, bytes(0), 'a coinbase is only valid in a block'),
  'pool-size': tx(45015, state, 'more than 200,000 bytes, or than a block has room for beside its coinbase'),
  'pool-inputs': tx(45015, state, 'more than 1,000 inputs'),
  'pool-signature-cost': tx(45008, state, 'its programs cost more than 300 signature checks'),
  'pool-documents': tx(45009, state, 'it makes a node read more than 1 MiB of documents'),
  'pool-full': tx(45024, state, 'the pool is full of transactions with a higher fee rate'),
  'pool-ancestors': tx(45024, state, 'more than 25 unconfirmed ancestors'),
  'pool-did-pending': tx(45024, state, 'eight operations of this DID are pending already'),
  'pool-unmineable': tx(
    43001,
    state,
    'a block of this node with this transaction was refused, so that it takes it no more',
  ),
  'pool-side-chain': tx(
    45020,
    state,
    'the pool holds a proof of work of this side chain that this one may not replace',
  ),

  // --- blocks: bytes alone -------------------------------------------------------------------------------------------
  'block-malformed': block(bytes(20), 'the bytes are no block, or more than one'),
  'block-size': block(bytes(20), 'more bytes than a block may have'),
  'block-transaction-count': block(bytes(20), 'no transaction, or more than a block may have'),
  'block-merkle-root': block(bytes(20), 'the transactions are not those of the header'),
  'block-duplicate-transaction': block(bytes(20), 'two transactions have the same id'),
  'block-double-spend': block(bytes(50), 'one output is spent twice in the block'),
  'block-coinbase-position': block(bytes(50), 'the first transaction, and only the first, is a coinbase'),
  'block-signature-cost': block(bytes(50), 'the block costs more signature checks than one may'),
  'block-signature-work': block(
    bytes(50),
    'the programs of the block list more keys, or make a node hash more bytes, than those of one may',
  ),
  'block-issuer-documents': block(
    bytes(50),
    'the operations of the block make a node read too many or too large documents',
  ),
  'coinbase-input': block(bytes(50), 'the coinbase input is not the coinbase outpoint alone'),
  'coinbase-payload-version': block(bytes(50), 'the coinbase payload version is not 4'),
  'coinbase-height': block(bytes(50), 'the coinbase lockTime is not the height'),
  'coinbase-program': block(bytes(20), 'a coinbase carries no program'),
  'coinbase-commitment': block(
    bytes(50),
    'the commitment attribute is missing, repeated, or has other entries than the spec asks',
  ),
  'coinbase-witness-root': block(bytes(20), 'the committed witness root is not that of the transactions'),
  'coinbase-validators': block(bytes(50), 'the committed validators are not those of the next height'),
  'coinbase-value': block(bytes(50), 'the coinbase pays more than subsidy and fees'),

  // --- blocks: against their ancestors ---------------------------------------------------------------------------------
  'block-parent-unknown': block(state, 'the parent is not known'),
  'block-parent-invalid': block(bytes(50), 'the parent is invalid'),
  'block-invalid': block(bytes(50), 'the block was found invalid before'),
  'block-height': block(bytes(50), 'the height is not one above the parent'),
  'block-bits': block(bytes(50), 'the bits are not those the retarget rule asks'),
  'block-time-early': block(bytes(50), 'the time is not after what the time rule asks'),
  'block-time-future': block(state, 'the time is too far ahead of the clock; tried again later'),
  'block-too-deep': block(state, 'the block would reorganise more than the depth limit'),
  'block-unsettled-full': block(state, 'too many unsettled blocks are held already'),
  'block-stale': block(state, 'the block does not extend the confirmed chain'),
  'auxpow-malformed': block(bytes(20), 'the bytes are no AuxPow, or more than one'),
  'auxpow-size': block(bytes(20), 'the AuxPow is larger than 16 KiB'),
  'auxpow-parent': block(bytes(20), 'the parent coinbase is not in the parent block'),
  'auxpow-commitment': block(bytes(20), 'the parent coinbase does not commit to this block exactly once'),
  'auxpow-index': block(bytes(20), 'an AuxPow index or branch length is not the one required'),
  'auxpow-work': block(bytes(20), 'the parent block hash is above the target'),

  // --- work ----------------------------------------------------------------------------------------------------------------
  'template-stale': request(
    45002,
    400,
    -32007,
    'the node has no template of this hash, or not any more: ask for a new one',
  ),
  'mining-impossible': request(
    45002,
    400,
    -32008,
    'this node cannot make blocks of its chain, or does not know whom they should pay',
  ),

  // --- peers that somebody asks for ------------------------------------------------------------------------------------------
  'peer-unreachable': request(45002, 400, -32009, 'no connection to the node came about'),

  // --- confirms ----------------------------------------------------------------------------------------------------------
  'confirm-malformed': block(bytes(20), 'the bytes are no confirm'),
  'confirm-missing': block(bytes(0), 'this chain needs a confirm with every block'),
  'confirm-unexpected': block(bytes(20), 'this chain has no validators'),
  'confirm-block': block(bytes(20), 'the confirm is for another block'),
  'confirm-sponsor': block(bytes(50), 'the proposal is not by the sponsor of its height and view'),
  'confirm-signer': block(bytes(50), 'a vote is by nobody in the validator set, or twice by one'),
  'confirm-vote': block(bytes(50), 'a vote rejects, or votes for another proposal'),
  'confirm-quorum': block(bytes(50), 'fewer votes than a quorum'),
  'confirm-signature': block(bytes(50), 'a signature of the confirm does not verify'),

  // --- voting messages ---------------------------------------------------------------------------------------------------
  'vote-malformed': block(bytes(20), 'the bytes are no voting message'),
  'vote-height': block(state, 'the message is for another height than the open one'),
  'vote-signer': block(bytes(50), 'the signer is no validator of this height'),
  'vote-sponsor': block(bytes(50), 'the proposal is not by the sponsor of its height and view'),
  'vote-block': block(bytes(50), 'the parts of the message name different blocks, heights or views'),
  'vote-proof': block(bytes(50), 'the prevotes that the proposal carries are no quorum of its validView for its block'),
  'vote-signature': block(bytes(50), 'a signature of the message does not verify'),
  'vote-candidate': block(bytes(20), 'a candidate that this chain has no use for, or one too many'),

  // --- peers ---------------------------------------------------------------------------------------------------------------
  'peer-message': block(bytes(20), 'the bytes are no message of this protocol'),
  'peer-genesis': block(state, 'the peer is on another chain'),
  'peer-upgrades': block(state, 'the peer lives by other upgrades of the chain spec'),
  'peer-version': block(state, 'the peer speaks another version of the protocol'),
  'peer-self': block(state, 'the peer is this node itself, or one that is connected already'),
  'peer-banned': block(state, 'the peer is banned for now'),
  'peer-crowded': block(state, 'the node has as many peers as it wants'),
  'peer-flood': block(link(20), 'more messages than a peer may send in that time'),
  'peer-slow': block(state, 'the peer did not answer in time'),
  'peer-withheld': block(link(20), 'the peer does not hand out what it announced'),
  'peer-headers': block(
    bytes(50),
    'the headers are not what was asked for: they do not follow each other or the locator',
  ),

  // --- JSON that rules read ---------------------------------------------------------------------------------------
  'json-utf8': tx(45009, bytes(10), 'the bytes are not UTF-8'),
  'json-syntax': tx(45009, bytes(10), 'the text is not JSON, or something stands before or after it'),
  'json-depth': tx(45009, bytes(10), 'the JSON is nested too deeply'),
  'json-tokens': tx(45009, bytes(10), 'the JSON has too many tokens'),
  'json-duplicate-name': tx(45009, bytes(10), 'a name stands twice in one object'),
  'json-name': tx(45009, bytes(10), '__proto__, constructor and prototype are refused as names'),
  'json-text': tx(45009, bytes(10), 'a string holds a lone surrogate or U+0000'),
  'json-number': tx(
    45009,
    bytes(10),
    'a number is not in its shortest form, not finite, or an integer beyond 2^53 - 1',
  ),

  // --- DID operations: the operation alone --------------------------------------------------------------------------
  'did-operation-form': tx(
    45009,
    bytes(10),
    'not an operation of header, payload and proof, or one with other members',
  ),
  'did-operation-unknown': tx(45009, bytes(10), 'an operation is create, update or deactivate'),
  'did-credential-operation': tx(
    45009,
    bytes(10),
    'this version does not accept credential operations (declare, revoke)',
  ),
  'did-specification': tx(45009, state, 'the chain does not accept this specification string'),
  'did-previous-form': tx(
    45009,
    bytes(10),
    'previousTxid is 64 lowercase hex digits on an update and absent otherwise',
  ),
  'did-payload-encoding': tx(45009, bytes(10), 'the payload is not exact base64url without padding'),
  'did-payload-size': tx(45009, bytes(10), 'the decoded payload is larger than the limit'),
  'did-payload-did': tx(45009, bytes(10), 'the payload of a deactivate is a full DID of this chain and nothing else'),
  'did-proof-type': tx(45009, bytes(10), 'the proof type of an operation is empty or ECDSAsecp256r1'),
  'did-verification-method': tx(45009, bytes(10), 'verificationMethod is not a key id of at most 256 bytes'),
  'did-signature-form': tx(45009, bytes(10), 'a signature is 86 base64url characters whose unused bits are zero'),

  // --- DID operations: against the state ----------------------------------------------------------------------------
  'did-exists': tx(45009, state, 'the DID exists already'),
  'did-unknown': tx(45009, state, 'the DID does not exist'),
  'did-deactivated': tx(45009, state, 'the DID is deactivated, which is final'),
  'did-previous-txid': tx(45009, state, 'previousTxid is not the last operation of the DID'),
  'did-signer': tx(45009, state, 'the key has no right to sign this operation'),
  'did-signature': tx(45008, state, 'the signature of the operation does not verify'),

  // --- DID documents ---------------------------------------------------------------------------------------------------
  'document-form': tx(45009, bytes(10), 'a member of the document is missing or has a wrong type'),
  'document-member': tx(45009, bytes(10), 'a member that no document has; it would stand there unsigned'),
  'document-controller': tx(45009, bytes(10), 'documents with controller or multisig are not accepted on the chain'),
  'document-text': tx(45009, bytes(10), 'a type is empty or not ASCII'),
  'document-date': tx(45009, bytes(10), 'a date is not YYYY-MM-DDTHH:MM:SSZ, or no calendar day'),
  'document-did': tx(45009, bytes(10), 'a DID of another form or method, or with a wrong checksum'),
  'document-id': tx(45009, bytes(10), 'an id is not a fragment of the DID it has to belong to'),
  'document-duplicate-id': tx(45009, bytes(10), 'two keys, services or credentials have the same id'),
  'document-key': tx(45009, bytes(10), 'publicKeyBase58 is not a compressed point of P-256'),
  'document-duplicate-key': tx(45009, bytes(10), 'two keys of the document have the same bytes'),
  'document-default-key': tx(45009, bytes(10), 'no key of the document derives its DID'),
  'document-reference': tx(
    45009,
    bytes(10),
    'a reference stands twice, or names no key of the controller its list is for',
  ),
  'document-entries': tx(45009, bytes(10), 'too many keys, services and credentials'),
  'document-proof-missing': tx(45009, bytes(10), 'the document carries no proof'),
  'document-proof-creator': tx(45009, bytes(10), 'the proof of the document is not by its default key'),
  'document-proof': tx(45008, bytes(10), 'the proof of the document does not verify'),

  // --- credentials -----------------------------------------------------------------------------------------------------
  'credential-type': tx(45009, bytes(10), 'the type of a credential is empty or repeats itself'),
  'credential-subject': tx(45009, bytes(10), 'the subject of a credential is not the DID of its document'),
  'credential-key': tx(45009, state, 'the key a credential names is no authentication key of its issuer'),
  'credential-issuer-unknown': tx(45009, state, 'the issuer of a new credential does not exist'),
  'credential-issuer-deactivated': tx(45009, state, 'the issuer of a new credential is deactivated'),
  'credential-foreign-limit': tx(45009, bytes(10), 'too many new credentials by other issuers'),
  'credential-proof': tx(45008, state, 'the proof of a credential does not verify'),

  // --- requests ------------------------------------------------------------------------------------------------------------
  'request-path': request(42001, 404, -32601, 'there is nothing at this path'),
  'request-method': request(42001, 405, -32601, 'the path exists, but not with this HTTP method'),
  'request-action': request(42001, 400, -32601, 'the Action is not one this endpoint knows'),
  'request-parameter': request(42002, 400, -32602, 'a parameter is missing or has a wrong form'),
  'query-invalid': request(42002, 400, -32602, 'no search condition, several of them, or one that is not valid'),
  'request-json': request(41003, 400, -32700, 'the body is not JSON'),
  'request-form': request(41003, 400, -32600, 'the bytes are no HTTP request, or the JSON is no JSON-RPC request'),
  'request-headers': request(41003, 431, -32600, 'the headers are larger than the limit'),
  'request-media-type': request(41003, 415, -32700, 'the content type is not application/json'),
  'request-too-large': request(41003, 413, -32600, 'the body is larger than the limit'),
  'request-timeout': request(45002, 408, -32005, 'the request did not arrive in time'),
  'request-forbidden': request(42003, 403, -32010, 'only this machine or a holder of the token may do this'),
  'request-rate': request(45002, 429, -32005, 'too many requests from one address'),
  'unknown-transaction': request(44001, 404, -32002, 'no such transaction on the chain or in the pool'),
  'unknown-block': request(44003, 404, -32004, 'no such block'),
  'unknown-confirm': request(44004, 404, -32004, 'the block has no confirm'),
  'snapshot-limit': request(45002, 503, -32005, 'the devnet keeps as many snapshots as it may'),
  'request-upgrade': request(
    41003,
    426,
    -32600,
    'this port speaks WebSocket, and the request does not ask for it properly',
  ),
  'event-gone': request(42002, 400, -32006, 'the events asked for are not kept, or not of this run of the node'),
  'subscription-limit': request(45002, 429, -32005, 'the connection has as many subscriptions as one may'),
  'resolver-behind': request(45002, 503, -32001, 'the node is catching up, so it cannot resolve yet'),
  busy: request(45002, 503, -32005, 'a queue is full; try again'),
  internal: request(45002, 500, -32603, 'an unforeseen failure; the log says more'),
} as const satisfies Record<string, CodeEntry>

export type Code = keyof typeof codes

/**
 * A broken rule. `code` decides what happens (see {@link codes}), `detail` says what was found and where.
 * An I/O failure is an ordinary exception, and a broken invariant an {@link InvariantError}.
 */
export class RuleError extends Error {
  override readonly name = 'RuleError'
  readonly code: Code
  /** Display hex of the txid that breaks the rule inside a block; undefined where no single transaction does. */
  readonly transaction: string | undefined

  constructor(code: Code, detail?: string, { transaction }: { readonly transaction?: string } = {}) {
    super(detail ?? codes[code].meaning)
    this.code = code
    this.transaction = transaction
  }
}

/** Our own state contradicts itself. Nothing may go on after this: the node stops. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** What a user did wrong: shown without a stack trace, exit code 1 (a failed action) or 2 (a wrong call). */
export class UserError extends Error {
  override readonly name = 'UserError'
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
