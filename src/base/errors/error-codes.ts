/**
 * Names every way to break a rule once, as a code with its meaning; what follows from a code is decided elsewhere.
 *
 *   broken rule, in any room
 *     -> throw new RuleError(code, detail)    rule-error.ts; brokenRule(code): `meanings` is the text; brokenPageRule(code): without this table
 *        -> api/error-mapping                 HTTP status, REST error and JSON-RPC error of the answer
 *        -> network/penalties                 penalty of the peer that sent the bytes
 *        -> mempool/drop-reason               why a transaction left the pool
 *
 * Imports no room; every other room throws its errors or reads its codes.
 * - A table of api or network that lacks a code does not compile.
 * - RuleError: a rule is broken. UserError: what a user can mend (options, files, ports). InvariantError: own state is wrong.
 * - An InvariantError stops the node; a failure without a code costs no peer anything.
 */

import { pageMeanings } from './page-meanings.js'

const texts = {
  // transactions: bytes alone
  'tx-malformed': 'the bytes are no transaction, or more than one',
  'tx-type': 'this transaction type is not accepted on the chain',
  'tx-size': 'larger than a block may be',
  'tx-ambiguous-size': pageMeanings['tx-ambiguous-size'],
  'tx-input-count': 'an ordinary transaction needs at least one input',
  'tx-input-repeated': 'the same outpoint is spent twice in one transaction',
  'tx-input-coinbase': 'an ordinary transaction may not name the coinbase outpoint',
  'tx-output-count': 'a transaction needs 1 to 65535 outputs',
  'tx-output-asset': 'only the native asset exists',
  'tx-output-address': 'the output pays an address prefix that is not accepted',
  'tx-output-type': 'version 9 outputs must be of type 0',
  'tx-output-value': 'an amount, or the sum of the outputs, is negative or beyond the supply',
  'tx-attribute': 'more than 16 attributes, one above 1024 bytes, or a Script attribute of another form',
  'tx-program-count': 'a transaction needs at least one program',
  'tx-program-form': 'a program is neither standard, nor DID script, nor canonical multisig',
  'tx-payload-version': 'this type does not have that payload version',
  'tx-side-chain-height': 'a side-chain block height is 2^29 or more',
  'tx-signature-cost': 'the transaction costs more signature checks than one may',

  // transactions: against the chain
  'tx-known': 'the transaction is on the chain or in the pool already',
  'tx-input-unknown': 'an input refers to an output that does not exist',
  'tx-double-spend': 'an input is spent already',
  'tx-input-value': 'the inputs add up to more than the supply',
  'tx-output-locked': 'a locked output needs sequence 0xfffffffe and a lockTime at or above its lock',
  'tx-immature': 'a coinbase output is spent before it matures',
  'tx-balance': 'the outputs exceed the inputs',
  'tx-fee': 'the fee is below the minimum of the chain',
  'tx-not-final': 'the lockTime is not reached',
  'tx-program-mismatch': 'the programs are not those of the spent outputs and Script attributes',
  'tx-signature': 'a program signature does not verify',
  'tx-side-chain-signer': 'a side-chain proof of work is not signed by a validator in force',
  'tx-side-chain-proved': 'the chain has a proof of work of that block of the side chain, or of a later one',

  // the pool
  'pool-coinbase': 'a coinbase is only valid in a block',
  'pool-size': 'more than 200,000 bytes, or than a block has room for beside its coinbase',
  'pool-inputs': 'more than 1,000 inputs',
  'pool-signature-cost': 'its programs cost more than 300 signature checks',
  'pool-documents': 'it makes a node read more than 1 MiB of documents',
  'pool-full': 'the pool is full of transactions with a higher fee rate',
  'fee-too-low': 'it pays less than the pool asks at present',
  'pool-ancestors':
    'more than 25 transactions that wait for a block come before it: it can be sent after the next block',
  'pool-did-pending': 'eight operations of this DID wait for a block already: it can be sent after the next one',
  'pool-replacement-fee':
    'it spends what waiting transactions spend, and pays less than theirs and the price of its size, or less for a byte than one of them',
  'pool-replacement-built-upon': 'it spends what a waiting transaction spends on which others build',
  'pool-replacements': 'it spends what more than 16 waiting transactions spend',
  'pool-unmineable': 'a block of this node with this transaction was refused, so that it takes it no more',
  'pool-side-chain':
    'the pool or the chain has a proof of work as late of this side chain, or the transaction is above 4,096 bytes',

  // blocks: bytes alone
  'block-malformed': 'the bytes are no block, or more than one',
  'block-size': 'more bytes than a block may have',
  'block-transaction-count': 'no transaction, or more than a block may have',
  'block-merkle-root': 'the transactions are not those of the header',
  'block-duplicate-transaction': 'two transactions have the same id',
  'block-double-spend': 'one output is spent twice in the block',
  'block-coinbase-position': 'the first transaction, and only the first, is a coinbase',
  'block-signature-cost': 'the block costs more signature checks than one may',
  'block-signature-work':
    'the programs of the block list more keys, or make a node hash more bytes, than those of one may',
  'block-issuer-documents': 'the operations of the block make a node read too many or too large documents',
  'coinbase-input': 'the coinbase input is not the coinbase outpoint alone',
  'coinbase-payload-version': 'the coinbase payload version is not 4',
  'coinbase-height': 'the coinbase lockTime is not the height',
  'coinbase-program': 'a coinbase carries no program',
  'coinbase-commitment': 'the commitment attribute is missing, repeated, or has other entries than the spec asks',
  'coinbase-witness-root': 'the committed witness root is not that of the transactions',
  'coinbase-did-root': 'the committed root is not that of the state of all DIDs after the block',
  'coinbase-coin-root': 'the committed root is not that of the coins 288 blocks before',
  'coinbase-validators': 'the committed validators are not those of the next height',
  'coinbase-too-large': 'the unsigned part of the coinbase has more than the 64 KiB that a proof may carry',
  'coinbase-value': 'the coinbase pays more than subsidy and fees',

  // blocks: against their ancestors
  'block-parent-unknown': 'the parent is not known',
  'block-parent-invalid': 'the parent is invalid',
  'block-invalid': 'the block was found invalid before',
  'block-height': 'the height is not one above the parent',
  'block-bits': 'the bits are not those the retarget rule asks',
  'block-time-early': 'the time is not after what the time rule asks',
  'block-time-future': 'the time is too far ahead of the clock; tried again later',
  'block-too-deep': 'the block would reorganise more than the depth limit',
  'block-unsettled-full': 'too many unsettled blocks are held already, and none of a branch with less work',
  'block-stale': 'the block does not extend the confirmed chain',
  'auxpow-malformed': 'the bytes are no AuxPow, or more than one',
  'auxpow-size': 'the AuxPow is larger than 16 KiB',
  'auxpow-parent': 'the parent coinbase is not in the parent block',
  'auxpow-commitment': 'the parent coinbase does not commit to this block exactly once',
  'auxpow-index': 'an AuxPow index or branch length is not the one required',
  'auxpow-work': 'the parent block hash is above the target',

  // work
  'template-stale': 'the node has no template of this hash, or not any more: ask for a new one',
  'mining-impossible': 'this node cannot make blocks of its chain, or does not know whom they should pay',

  // what the node does not keep
  pruned: 'the node does not have that transaction, or not all of that block: it prunes, or began with a state',
  'proof-unavailable': 'the node cannot prove an answer as of that block',

  // peers that a request names
  'peer-unreachable': 'no connection to the node came about',

  // backups
  'backup-failed': 'no backup is made there, or it could not be completed',

  // confirms
  'confirm-malformed': 'the bytes are no confirm',
  'confirm-missing': 'this chain needs a confirm with every block',
  'confirm-unexpected': 'this chain has no validators',
  'confirm-block': 'the confirm is for another block',
  'confirm-sponsor': 'the proposal is not by the sponsor of its height and view',
  'confirm-signer': 'a vote is by nobody in the validator set, or twice by one',
  'confirm-vote': 'a vote rejects, or votes for another proposal',
  'confirm-quorum': 'fewer votes than a quorum',
  'confirm-signature': 'a signature of the confirm does not verify',

  // voting messages
  'vote-malformed': 'the bytes are no voting message',
  'vote-height': 'the message is for another height than the open one',
  'vote-signer': 'the signer is no validator of this height',
  'vote-sponsor': 'the proposal is not by the sponsor of its height and view',
  'vote-block': 'the parts of the message name different blocks, heights or views',
  'vote-proof': 'the prevotes that the proposal carries are no quorum of its validView for its block',
  'vote-signature': 'a signature of the message does not verify',
  'vote-candidate': 'a candidate that this chain has no use for, or one too many',

  // peers
  'peer-message': 'the bytes are no message of this protocol',
  'peer-genesis': 'the peer is on another chain',
  'peer-upgrades': 'the peer lives by other upgrades of the chain spec',
  'peer-version': 'the peer speaks another version of the protocol',
  'peer-self': 'the peer is this node itself, or one that is connected already',
  'peer-banned': 'the peer is banned for now',
  'peer-crowded': 'the node has as many peers as it wants',
  'peer-flood': 'more messages than a peer may send in that time',
  'peer-slow': 'the peer did not answer in time',
  'peer-withheld': 'the peer does not hand out what it announced',
  'peer-headers': 'the headers are not what was asked for: they do not follow each other or the locator',
  'peer-state': 'the parts of the state are not those that the peer listed, or not what the blocks commit to',

  // JSON that rules read
  'json-utf8': pageMeanings['json-utf8'],
  'json-syntax': 'the text is not JSON, or something stands before or after it',
  'json-depth': 'the JSON is nested too deeply',
  'json-tokens': 'the JSON has too many tokens',
  'json-duplicate-name': 'a name stands twice in one object',
  'json-name': '__proto__, constructor and prototype are refused as names',
  'json-text': 'a string holds a lone surrogate or U+0000',
  'json-number': 'a number is not in its shortest form, not finite, or an integer beyond 2^53 - 1',

  // DID operations: the operation alone
  'did-operation-form': 'not an operation of header, payload and proof, or one with other members',
  'did-operation-unknown': 'an operation is create, update, deactivate, declare, revoke or transfer',
  'did-names': 'this chain has no DIDs with names at the height',
  'did-credential-operation': 'this chain has no credential operations (declare, revoke) at the height',
  'did-specification': 'the chain does not accept this specification string',
  'did-previous-form': pageMeanings['did-previous-form'],
  'did-payload-encoding': pageMeanings['did-payload-encoding'],
  'did-payload-size': 'the decoded payload is larger than the limit',
  'did-payload-did': 'the payload of a deactivate is a full DID of this chain and nothing else',
  'did-payload-credential': 'the payload of a revoke is the absolute id of a credential of this chain and nothing else',
  'did-proof-type': pageMeanings['did-proof-type'],
  'did-verification-method': 'verificationMethod is not a key id of at most 256 bytes',
  'did-ticket-form': 'the ticket of a transfer is no base64url of {id, to, txid, proof}, at most 8192 bytes',
  'did-signature-form': pageMeanings['did-signature-form'],

  // DID operations: against the state
  'did-exists': 'the DID is created already, on the chain or by an operation before',
  'did-unknown': 'the DID does not exist',
  'did-deactivated': 'the DID is deactivated, which is final',
  'did-previous-txid': 'previousTxid is not the last operation of the DID',
  'did-signer': 'the key has no right to sign this operation',
  'did-signature': 'the signature of the operation does not verify',
  'did-controller':
    'a controller does not exist, is deactivated, or signs though it has expired, or with a key that may not',
  'did-controllers': 'an update changes the controllers, or how many of them sign',
  'did-ticket': 'the ticket is not for this transfer, or not by the controllers before it',
  'did-ticket-proof': 'a signature of the ticket does not verify',

  // DID documents
  'document-form': 'a member of the document is missing or has a wrong type',
  'document-member': 'a member that no document has; it would stand there unsigned',
  'document-core': 'this chain has no documents with this member of DID Core at the height',
  'document-controller': 'a DID with a name has 1 to 16 controllers, and that of a key has none',
  'document-text': 'a type is empty or not ASCII',
  'document-date': 'a date is not YYYY-MM-DDTHH:MM:SSZ, or no calendar day',
  'document-did': 'a DID of another form or method, or with a wrong checksum',
  'document-id': 'an id is not a fragment of the DID it has to belong to',
  'document-duplicate-id': 'two keys, services or credentials have the same id',
  'document-key': 'publicKeyBase58 is not a compressed point of P-256',
  'document-duplicate-key': 'two keys of the document have the same bytes',
  'document-default-key': 'no key of the document derives its DID',
  'document-reference': 'a reference stands twice, or names no key of the controller its list is for',
  'document-entries': 'too many keys, services and credentials',
  'document-proof-missing': 'the document carries no proof',
  'document-proof-creator': 'the proof of the document is not by its default key',
  'document-proof': 'the proof of the document does not verify',

  // credentials
  'credential-type': 'the type of a credential is empty or repeats itself',
  'credential-subject': 'the subject of a credential is not the DID of its document',
  'credential-key': 'the key a credential names is no authentication key of its issuer',
  'credential-declared': 'a credential is declared once',
  'credential-revoked': 'the credential is revoked: by this DID, or for a declare by holder or issuer',
  'credential-revoker': 'a declared credential is revoked by its holder or its issuer alone',
  'credential-issuer-unknown': 'the issuer of a new credential does not exist',
  'credential-issuer-deactivated': 'the issuer of a new credential is deactivated',
  'credential-foreign-limit': 'too many new credentials by other issuers',
  'credential-proof': 'the proof of a credential does not verify',

  // requests
  'request-path': 'there is nothing at this path',
  'request-method': 'the path exists, but not with this HTTP method',
  'request-action': 'the Action is not one this endpoint knows',
  'request-parameter': 'a parameter is missing or has a wrong form',
  'query-invalid': 'no search condition, several of them, or one that is not valid',
  'request-json': 'the body is not JSON',
  'request-form': 'the bytes are no HTTP request that can be read here, or the JSON is no JSON-RPC request',
  'request-headers': 'the headers are larger than the limit',
  'request-media-type': 'the content type is not application/json',
  'request-too-large': 'the body is larger than the limit',
  'request-timeout': 'the request did not arrive in time',
  'request-forbidden': 'only this machine or a holder of the token may do this',
  'request-rate': 'too many requests from one address',
  'unknown-transaction': 'no such transaction on the chain or in the pool',
  'unknown-block': 'no such block',
  'unknown-confirm': 'the block has no confirm',
  'coins-too-few': 'the coins of an address that can be spent now are too few',
  'snapshot-limit': 'the devnet keeps as many snapshots as it may',
  'request-upgrade': 'this port speaks WebSocket, and the request does not ask for it properly',
  'event-gone': 'the events asked for are not kept, or not of this run of the node',
  'subscription-limit': 'the connection has as many subscriptions as one may',
  overloaded: 'the conditions that are followed are too much, for the node or for the client address',
  'history-size': 'the history of the DID is too long to be given at once',
  'answer-unproved': 'no node asked gives an answer whose proof holds',
  'resolver-behind': 'the node is not in step with its chain, so it cannot resolve now',
  'followed-unreachable': 'the node that this one follows does not answer, or is of another chain',
  'gateway-reads-only': 'a gateway without a node behind it answers what follows from the chain alone',
  'shards-apart': 'the shards of a gateway show rows of several blocks',
  'shard-down': 'a shard of a gateway, with its replicas, does not answer',
  'row-damaged': 'a shard has a row that is not as the node wrote it',
  'behind-height': 'the node has not reached the height that the request names',
  busy: 'a queue is full; try again',
  internal: 'an unforeseen failure; the log says more',
} satisfies Record<string, string>

export type Code = keyof typeof texts

/** Meaning of each code. */
export const meanings: Readonly<Record<Code, string>> = texts
