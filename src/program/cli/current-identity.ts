import type { NodeClient } from '../../clients/client/node-client.js'
import { readOperationJson } from '../../identity/did/operation.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import {
  canFollow,
  type DidOperation,
  effectOf,
  isAboutCredential,
  operationForm,
} from '../../base/primitives/did-operation.js'
import { hasName } from '../../base/primitives/did-name.js'
import { txType } from '../../base/primitives/payload.js'
import type { DidDocument } from '../../identity/did/model.js'
import { type CurrentIdentity, didOfOperation, documentOf } from '../../clients/wallet/did-identity.js'

/** The last operation of a DID, with its state from the resolver. */
export interface Current {
  readonly identity: CurrentIdentity
  /** The node's clock is past the expiry. */
  readonly expired: boolean
}

/**
 * The state that the next operation of a DID follows: the last pending operation, else the last on the chain. A {@link UserError}
 * if the DID does not exist or is deactivated.
 */
export async function currentIdentity(client: NodeClient, did: string): Promise<Current> {
  const current = await lastIdentity(client, did)
  if (current !== undefined) return current
  const how = hasName(did)
    ? '"npx didledger did name create" registers a name'
    : '"npx didledger did create" registers the DID of an account'
  throw new UserError(`${did} does not exist on this chain; ${how}`)
}

/** The same; undefined if the DID does not exist. */
export async function identityIfAny(client: NodeClient, did: string): Promise<CurrentIdentity | undefined> {
  return (await lastIdentity(client, did))?.identity
}

async function lastIdentity(client: NodeClient, did: string): Promise<Current | undefined> {
  const [{ status, transaction }, waiting] = await Promise.all([client.resolve(did), pendingOperations(client, did)])
  if (status === 2) throw new UserError(`${did} is deactivated, which is final`)
  const mined = transaction?.[0]
  let last = mined && { txid: mined.txid, payload: mined.operation.payload }
  const left = new Set(waiting)
  for (let next = successor(left, last?.txid); next !== undefined; next = successor(left, last?.txid)) {
    left.delete(next)
    last = { txid: next.txid, payload: next.operation.payload }
  }
  if (waiting.some(({ operation }) => effectOf(operation) === 'end')) {
    throw new UserError(`${did} is about to be deactivated by a transaction that waits for its block`)
  }
  if (last === undefined) return undefined
  return { identity: { document: documentOf(last.payload), txid: last.txid }, expired: status === 1 }
}

/** The documents on the chain of the controllers of a document that have not ended; none for the DID of a key. */
export async function controllersOf(client: NodeClient, { controllers }: DidDocument): Promise<DidDocument[]> {
  const answers = await Promise.all(controllers.map((did) => client.resolve(did)))
  return answers.flatMap(({ status, transaction }) => {
    const payload = status > 1 ? undefined : transaction?.[0]?.operation.payload
    return payload === undefined ? [] : documentOf(payload)
  })
}

/** The id of the pooled transaction that creates a DID. */
export async function pendingCreate(client: NodeClient, did: string): Promise<string | undefined> {
  return successor(new Set(await pendingOperations(client, did)), undefined)?.txid
}

interface Pending {
  readonly txid: string
  readonly operation: DidOperation
}

/** The operation on a DID that follows the one with a txid; undefined: the first one. */
function successor(waiting: ReadonlySet<Pending>, txid: string | undefined): Pending | undefined {
  return [...waiting].find(({ operation }) => {
    const form = operationForm(operation)
    if (form?.subject !== 'did') return false
    if (canFollow(form, undefined)) return txid === undefined
    return txid !== undefined && (!form.previousTxid || operation.previousTxid === txid)
  })
}

async function pendingOperations(client: NodeClient, did: string): Promise<Pending[]> {
  const pool = await client.pool()
  return pool.flatMap(({ txid, type, payload }) => {
    if (type !== txType.did) return []
    const operation = operationOf(payload)
    // What waits of a credential in its name neither changes the DID nor ends it.
    if (operation === undefined || isAboutCredential(operation)) return []
    return didOfOperation(operation) === did ? [{ txid, operation }] : []
  })
}

function operationOf(payload: unknown): DidOperation | undefined {
  try {
    return readOperationJson(JSON.stringify(payload))
  } catch (error) {
    if (error instanceof RuleError) return undefined
    throw error
  }
}
