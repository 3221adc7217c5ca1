import type { ResolveResult } from '../did/resolution.js'
import { displayHash } from '../primitives/bytes.js'
import { defined } from '../primitives/defined.js'
import { checkDidAnswer, type DidQuestion, type ProvedDid } from '../proofs/did-answer.js'
import type { Question } from './compare-answers.js'
import type { Proved } from './proved.js'

/** A question about a DID, and what is said of it. */

export function didQuestion(
  question: DidQuestion,
  { height, history }: { readonly height?: number | undefined; readonly history?: boolean | undefined },
): Question<ProvedDid> {
  const { did, all = false, versionId, versionTime } = question
  const params = { did, all, ...defined({ versionId, versionTime, height }) }
  return {
    ask: (server) => server.call('resolvedid', { ...params, proof: history === true ? 'history' : true }),
    check: (sent, trust) => checkDidAnswer(sent, question, trust),
    histories: ({ history: proved }) => [proved],
    isPast: height !== undefined,
    result: (proved) => resolved(question, proved),
  }
}

export function resolved({ did }: DidQuestion, { status, history, transactions }: ProvedDid): ResolveResult {
  return { did, status, ...(history !== undefined && { transaction: transactions }) }
}

export function unproved({ knowsStatus }: ProvedDid): { statusUnproved?: true } {
  return knowsStatus ? {} : { statusUnproved: true }
}

export function entriesOf({ history }: ProvedDid): NonNullable<Proved['history']> {
  const entries = (history?.entries ?? []).map(({ txid, height, time }) => ({ txid: displayHash(txid), height, time }))
  return { count: history?.count ?? 0, entries }
}
