import { formatDate } from '../did/date.js'
import type { ResolvedTransaction } from '../did/resolution.js'
import { displayHash, equalBytes } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { operationForm } from '../../base/primitives/did-operation.js'
import { sha256 } from '../../base/primitives/hash.js'
import type { Entry } from './history.js'
import { fail } from './proof-failure.js'
import { list, members, optionalText, text } from './read-json.js'

/** Transactions of an answer, and what binds each to its entry. */

/**
 * More are never asked for.
 * @limit count: transactions in an answer that is checked
 */
const maxTransactions = 100_000
const txidForm = /^[0-9a-f]{64}$/

/** Reads the transactions of an answer; unknown members are left out. */
export function readTransactions(sent: unknown): readonly ResolvedTransaction[] {
  return sent === undefined ? [] : list(sent, maxTransactions).map(readTransaction)
}

function readTransaction(sent: unknown): ResolvedTransaction {
  const { txid, timestamp, operation } = members(sent, 'a transaction')
  const { header, payload, proof } = members(operation, 'an operation')
  const { specification, operation: name, previousTxid, ticket } = members(header, 'the header of an operation')
  const { type, verificationMethod, signature } = members(proof, 'the proof of an operation')
  return {
    txid: text(txid),
    timestamp: text(timestamp),
    operation: {
      header: {
        specification: text(specification),
        operation: text(name),
        ...defined({ previousTxid: optionalText(previousTxid), ticket: optionalText(ticket) }),
      },
      payload: text(payload),
      proof: {
        ...defined({ type: optionalText(type) }),
        verificationMethod: text(verificationMethod),
        signature: text(signature),
      },
    },
  }
}

/** Throws `answer-transaction` unless a transaction agrees with its entry; `before` is the entry before it, if known. */
export function requireEntry(transaction: ResolvedTransaction, entry: Entry, before: Entry | undefined): void {
  const { header, payload } = transaction.operation
  const wrong = (what: string): never => fail('answer-transaction', `${what} of ${transaction.txid}`)
  if (transaction.txid !== displayHash(entry.txid)) wrong('the txid')
  if (transaction.timestamp !== formatDate(entry.time)) wrong('the time')
  const form = operationForm(header)
  if (form?.number !== entry.operation) wrong('the operation')
  if (!equalBytes(sha256(payload), entry.payloadHash)) wrong('the payload')
  const { previousTxid, ticket } = header
  if ((ticket !== undefined) !== (form?.ticket === true)) wrong('the ticket')
  if ((previousTxid !== undefined) !== (form?.previousTxid === true)) wrong('the previous txid')
  if (previousTxid === undefined) return
  // Of another length, what is signed with it could be read in two ways.
  if (before === undefined ? !txidForm.test(previousTxid) : previousTxid !== displayHash(before.txid))
    wrong('the previous txid')
}
