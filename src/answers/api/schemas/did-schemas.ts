import { Type } from '@sinclair/typebox'
import { type OperationForm, type OperationName, operationForms } from '../../../base/primitives/did-operation.js'
import { closed, hash, oneOf, uint32 } from './common-schemas.js'
import { stateProof } from './proof-schemas.js'
import { chainPlace, nextPage } from './transaction-schemas.js'

/** Answers of the resolver. */

function namesOf(about: OperationForm['subject']): string[] {
  return Object.entries(operationForms).flatMap(([name, { subject }]) => (subject === about ? [name] : []))
}

/** A transaction with an operation on a DID or on a credential. */
function transactionOf(about: OperationForm['subject'], payload: string) {
  const proof = {
    type: Type.Optional(Type.Literal('ECDSAsecp256r1')),
    verificationMethod: Type.String({ description: 'the key, by its fragment where it is the DID’s own' }),
    signature: Type.String({ description: '64 bytes in base64url' }),
  }
  const header = {
    specification: Type.String({
      description: `version of the ${about === 'did' ? 'DID' : 'credential'} specification`,
    }),
    operation: Type.Union(namesOf(about).map((name) => Type.Literal(name))),
    ...(about === 'did'
      ? {
          previousTxid: Type.Optional(Type.String({ description: 'txid of the operation before; of an update alone' })),
        }
      : {}),
  }
  const operation = {
    header: closed(header),
    payload: Type.String({ description: payload }),
    proof: closed(proof),
  }
  return closed({
    txid: Type.String(),
    timestamp: Type.String({ description: 'time of the block, RFC 3339 in UTC' }),
    operation: closed(operation),
  })
}

export const resolvedTransaction = transactionOf(
  'did',
  'the document in base64url as published; of a deactivate the DID',
)
const credentialTransaction = transactionOf(
  'credential',
  'the credential in base64url as published; of a revoke its id',
)

export const credentialResult = closed({
  id: Type.String({ description: 'in full' }),
  status: Type.Integer({
    minimum: 0,
    maximum: 3,
    description: '0 declared, 1 declared and expired, 2 revoked, 3 neither',
  }),
  transaction: Type.Optional(
    Type.Array(credentialTransaction, {
      description:
        'the revoke, if any, and the declare, if any; absent with status 3; with a proof every operation, newest first',
    }),
  ),
  proof: Type.Optional(stateProof),
})

const timestamp = Type.String({ description: 'time of the block, RFC 3339 in UTC' })
const whole = (description: string) => Type.Integer({ minimum: 0, description })
const moment = (description: string) => closed({ txid: hash(), timestamp }, description)

const answerAge = closed(
  {
    height: whole('of the tip as of which the answer holds'),
    age: whole('seconds since the time of that tip'),
    always: Type.Optional(
      Type.Literal(true, { description: 'the owner has all questions answered at all times, right or wrong' }),
    ),
  },
  'of a node that is not in step with its chain; only with `context`',
)

const resolveContext = closed(
  {
    height: whole('height of the tip'),
    blockHash: hash(),
    time: whole('time of the tip, Unix seconds'),
    count: whole('operations of the DID'),
    created: moment('its create'),
    updated: Type.Optional(moment('the last update up to the version shown first; absent without one')),
    next: Type.Optional(moment('the operation after that version; absent where it is the last one')),
    expires: Type.String({ description: 'expiry of the document of that version, RFC 3339 in UTC' }),
    at: Type.Array(closed({ height: whole('of its block'), blockHash: hash(), confirmations: whole('1 at the tip') }), {
      description: 'the blocks of the transactions, in their order',
    }),
  },
  'where the answer stands; only with `context`',
)

const givenUpOperation = closed({
  txid: hash(),
  timestamp,
  height: whole('of its block'),
  operation: Type.String({ description: 'create or update' }),
  payloadHash: Type.String({ description: 'SHA-256 of the payload as it was published, in hex' }),
})

export const resolveResult = closed({
  did: Type.String(),
  status: Type.Integer({
    minimum: 0,
    maximum: 3,
    description: '0 valid, 1 expired, 2 deactivated, 3 does not exist',
  }),
  hint: Type.Optional(
    Type.String({ description: 'why no key can have the identifier; only with `context` and status 3' }),
  ),
  transaction: Type.Optional(
    Type.Array(resolvedTransaction, {
      description: 'newest first; empty without the version asked for; absent with status 3',
    }),
  ),
  givenUp: Type.Optional(
    Type.Array(givenUpOperation, {
      description:
        'only with `all`, of a node that gave up superseded documents or began with a state: the operations asked for that it has no more ' +
        'than this of, newest first, all older than those above',
    }),
  ),
  total: Type.Optional(whole('operations of the DID; this and the next two only with `skip` or `limit`')),
  start: Type.Optional(whole('operations left out first')),
  count: Type.Optional(whole('operations here, given up ones among them')),
  context: Type.Optional(resolveContext),
  outOfStep: Type.Optional(answerAge),
  proof: Type.Optional(stateProof),
})

const member = Type.Unknown()

/** A document in normalised form. Its services may have further members, its credentials any claims. */
export const didDocument = closed(
  {
    '@context': Type.Optional(Type.Array(Type.String())),
    id: Type.String({ description: 'the DID' }),
    alsoKnownAs: Type.Optional(Type.Array(Type.String(), { description: 'absolute URIs' })),
    publicKey: Type.Array(Type.Record(Type.String(), member)),
    authentication: Type.Array(Type.String({ description: 'id of a key' })),
    authorization: Type.Optional(Type.Array(Type.String({ description: 'id of a key' }))),
    keyAgreement: Type.Optional(
      Type.Array(Type.Record(Type.String(), member), { description: 'keys with which others encrypt to the DID' }),
    ),
    verifiableCredential: Type.Optional(Type.Array(Type.Record(Type.String(), member))),
    service: Type.Optional(Type.Array(Type.Record(Type.String(), member))),
    expires: Type.String({ description: 'RFC 3339 in UTC' }),
    proof: Type.Record(Type.String(), member),
  },
  'a document with every id in full and the members in canonical order',
)

export const queryResult = closed({
  total: Type.Integer({ minimum: 0, description: 'documents that match' }),
  start: Type.Integer({ minimum: 0, description: 'position of the first one here; 0 when none match' }),
  count: Type.Integer({ minimum: 0, description: 'documents here' }),
  document: Type.Array(didDocument, { description: 'in the order in which their DIDs were created' }),
  height: Type.Optional(whole('of the tip as of which the answer holds; only with `context`')),
  blockHash: Type.Optional(hash()),
  outOfStep: Type.Optional(answerAge),
})

export const listedOperations = closed({
  operations: Type.Array(
    closed({
      ...chainPlace,
      did: Type.String({
        description: 'the DID that it changes; of a declare or revoke the holder of the credential',
      }),
      operation: oneOf(Object.keys(operationForms) as OperationName[], 'what it does'),
      signer: Type.String({ description: 'the DID whose key signed it' }),
      credential: Type.Optional(Type.String({ description: 'id in full; of a declare or revoke alone' })),
    }),
    { description: 'newest first; fewer than asked for, or none, where a page ends early' },
  ),
  next: nextPage,
  pruned: Type.Optional(uint32('of a node that took a state from others: operations up to this height are not listed')),
  superseded: Type.Optional(
    uint32('of a node that prunes documents: operations with documents superseded up to this height are not listed'),
  ),
})

export const didCountSchema = closed({
  total: whole('DIDs that were created'),
  valid: whole('of them, not deactivated; those whose document has expired are among them'),
  deactivated: whole('of them'),
  height: whole('of the tip as of which it holds'),
  blockhash: hash(),
})
