import type { LightCredential, LightResult, ProvedEntry } from '../../clients/light/proved-answer.js'
import { effectOf, type OperationForm, operationForms } from '../../base/primitives/did-operation.js'
import { hasName } from '../../base/primitives/did-name.js'
import type { ResolvedTransaction } from '../../identity/did/resolution.js'
import { documentOf, type Members, payloadObject } from '../did/payload.js'
import { secondsOf } from '../text/times.js'
import type { CredentialView, DidView, ShownOperation } from './views.js'

/** Draws a DID or a credential from what a light resolver proved, and from nothing else. Pure. */

/** Part of the history that is drawn. */
export interface Part {
  /** Newest operations that are left out. */
  readonly skip: number
  readonly rows: number
}

export function provedDid(did: string, { status, transaction = [], proved }: LightResult, part: Part): DidView {
  const { count = 0, entries = [] } = proved.history ?? {}
  const first = count - entries.length + 1
  const shown = new Map(transaction.map(({ txid, operation }) => [txid, operation.header.operation]))
  const operations = entries.map((entry, i): ShownOperation => {
    const number = first + i
    const name = shown.get(entry.txid) ?? nameOf(did, number, status === 2 && number === count)
    return { ...fromEntry(entry), number, name }
  })
  const { skip, rows } = part
  const last = transaction.find(hasDocument)
  return {
    did,
    status,
    height: proved.height,
    count,
    operations: operations.reverse().slice(skip, skip + rows),
    document: last === undefined ? undefined : documentOf(last.operation),
    written: secondsOf(last?.timestamp),
  }
}

/** The document of one version among transactions that are proved; undefined: it is not among them. */
export function versionIn(transactions: readonly ResolvedTransaction[], txid: string): Members | undefined {
  const found = transactions.find((one) => one.txid === txid)
  return found === undefined ? undefined : documentOf(found.operation)
}

export function provedCredential(id: string, { status, transaction = [], proved }: LightCredential): CredentialView {
  const entries = new Map(proved.history?.entries.map((entry) => [entry.txid, entry]))
  const declare = transaction.find(({ operation }) => effectOf(operation.header) === 'credential')
  return {
    id,
    status,
    operations: transaction.map(({ txid, timestamp, operation }) => ({
      number: undefined,
      txid,
      name: operation.header.operation,
      time: secondsOf(timestamp),
      height: entries.get(txid)?.height,
      signer: entries.get(txid)?.signedBy,
    })),
    content: declare === undefined ? undefined : payloadObject(declare.operation.payload),
  }
}

function fromEntry({ txid, height, time, signedBy }: ProvedEntry): Omit<ShownOperation, 'number' | 'name'> {
  return { txid, height, time, signer: signedBy }
}

/** Names of the operations that can stand at a place, mostly one: proofs of histories in any other order are refused. */
function nameOf(did: string, number: number, ends: boolean): string {
  const before = number === 1 ? 'nothing' : 'document'
  const isNamed = hasName(did)
  const possible = Object.entries<OperationForm>(operationForms).filter(([, { subject, effect, after, ticket }]) => {
    return subject === 'did' && after.includes(before) && (effect === 'end') === ends && (isNamed || !ticket)
  })
  return possible.map(([name]) => name).join(' or ')
}

function hasDocument({ operation: { header } }: ResolvedTransaction): boolean {
  return effectOf(header) !== 'end'
}
