import { effectOf } from '../../base/primitives/did-operation.js'
import { Refusal } from '../ask/refusal.js'
import { asMembers, documentOf, type Members, objectsIn, payloadObject, textIn } from '../did/payload.js'
import type { Operation } from '../ask/shapes.js'
import { secondsOf } from '../text/times.js'
import type { CredentialView, DidView, ShownOperation, Status } from './views.js'

/**
 * Draws a DID or a credential from an unproved answer of the node: an answer about another subject, or of another form, is a
 * {@link Refusal}. Pure.
 */

/** A part of the history of a DID, and its document: the last one among its newest operations. */
export function saidDid(did: string, history: unknown, newest: unknown): DidView {
  const { status, members } = answerAbout('did', did, history)
  const context = asMembers(members['context']) ?? {}
  const places = objectsIn(context, 'at')
  const count = numberIn(members, 'total') ?? 0
  const start = numberIn(members, 'start') ?? 0
  const transactions = transactionsIn(members)
  const last = transactionsIn(answerAbout('did', did, newest).members).find(hasDocument)
  return {
    did,
    status,
    height: numberIn(context, 'height'),
    count,
    operations: [
      ...transactions.map((one, i) => ({ ...shown(one), height: numberIn(places[i] ?? {}, 'height') })),
      ...objectsIn(members, 'givenUp').map(givenUp),
    ].map((one, i) => ({ ...one, number: count - start - i })),
    document: last === undefined ? undefined : ownDocument(did, last.operation),
    written: last?.time,
  }
}

/** The document of a version that the node gives; undefined where it gives none of this DID. */
export function saidVersion(did: string, answer: unknown): Members | undefined {
  const [first] = transactionsIn(answerAbout('did', did, answer).members)
  return first === undefined ? undefined : ownDocument(did, first.operation)
}

export function saidCredential(id: string, answer: unknown): CredentialView {
  const { status, members } = answerAbout('id', id, answer)
  const transactions = transactionsIn(members)
  const declare = transactions.find(({ operation }) => effectOf(operation.header) === 'credential')
  return {
    id,
    status,
    operations: transactions.map((one) => ({ ...shown(one), number: undefined, height: undefined })),
    content: declare === undefined ? undefined : payloadObject(declare.operation.payload),
  }
}

function answerAbout(
  name: 'did' | 'id',
  asked: string,
  answer: unknown,
): { readonly status: Status; readonly members: Members } {
  const members = asMembers(answer) ?? {}
  if (textIn(members, name) !== asked) {
    throw new Refusal(0, 'The node answered about something else than was asked; nothing of it is shown.', '')
  }
  const status = members['status']
  if (status !== 0 && status !== 1 && status !== 2 && status !== 3) throw otherForm('a status that there is not')
  return { status, members }
}

interface SaidTransaction {
  readonly txid: string
  readonly time: number | undefined
  readonly operation: Operation
}

function transactionsIn(members: Members): SaidTransaction[] {
  return objectsIn(members, 'transaction').map(transactionOf)
}

function transactionOf(sent: unknown): SaidTransaction {
  const transaction = asMembers(sent) ?? {}
  const operation = asMembers(transaction['operation']) ?? {}
  const header = asMembers(operation['header']) ?? {}
  const proof = asMembers(operation['proof']) ?? {}
  const text = (from: Members, name: string) => {
    const found = textIn(from, name)
    if (found === undefined) throw otherForm(`an operation without ${name}`)
    return found
  }
  return {
    txid: text(transaction, 'txid'),
    time: secondsOf(transaction['timestamp']),
    operation: {
      header: { specification: textIn(header, 'specification') ?? '', operation: text(header, 'operation') },
      payload: text(operation, 'payload'),
      proof: { verificationMethod: text(proof, 'verificationMethod'), signature: '' },
    },
  }
}

function shown({ txid, time, operation }: SaidTransaction): Omit<ShownOperation, 'number' | 'height'> {
  return { txid, time, name: operation.header.operation, signer: operation.proof.verificationMethod }
}

/** An operation of which the node has the hashes alone. */
function givenUp(sent: unknown): Omit<ShownOperation, 'number'> {
  const members = asMembers(sent) ?? {}
  const [txid, name] = [textIn(members, 'txid'), textIn(members, 'operation')]
  if (txid === undefined || name === undefined) throw otherForm('a given-up operation without its names')
  const [time, height] = [secondsOf(members['timestamp']), numberIn(members, 'height')]
  return { txid, time, name, height, signer: undefined, isGivenUp: true }
}

function hasDocument({ operation: { header } }: SaidTransaction): boolean {
  return effectOf(header) !== 'end'
}

/** A document of another DID is none of this one. */
function ownDocument(did: string, operation: Operation): Members | undefined {
  const document = documentOf(operation)
  return document !== undefined && textIn(document, 'id') === did ? document : undefined
}

function numberIn(members: Members, name: string): number | undefined {
  const value = members[name]
  return Number.isSafeInteger(value) ? (value as number) : undefined
}

function otherForm(what: string): Refusal {
  return new Refusal(0, `The node answered in a form that this page cannot read: ${what}.`, '')
}
