import type { ResolveResult } from '../../identity/did/resolution.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { checkDidAnswer, type ProvedDid } from '../../identity/proofs/did-answer.js'
import { asksVersion, type DidQuestion } from '../../identity/proofs/did-question.js'
import { answerBounds } from './answer-bounds.js'
import type { Question } from './compare-answers.js'
import type { Proved } from './proved-answer.js'

/** A question about a DID, and its answer. */

export function didQuestion(question: DidQuestion): Question<ProvedDid> {
  const { did, all = false, versionId, versionTime, height, history = false } = question
  const params = { did, all, ...defined({ versionId, versionTime, height }), proof: history ? 'history' : true }
  const one = history || asksVersion(question) ? answerBounds.version : answerBounds.latest
  return {
    ask: (server) => server.call('resolvedid', params, all ? answerBounds.all : one),
    check: (sent, trust) => checkDidAnswer(sent, question, trust),
    leaves: ({ leaf }) => [leaf],
    asOf: (at) => ({ ...didQuestion({ ...question, height: at }), isPast: height !== undefined }),
    isPast: height !== undefined,
    result: (proved) => ({ ...resolved(question, proved), proved: unproved(proved) }),
  }
}

export function resolved({ did }: DidQuestion, { status, history, transactions }: ProvedDid): ResolveResult {
  return { did, status, ...(history !== undefined && { transaction: transactions }) }
}

export function unproved({ knowsStatus }: ProvedDid): { statusUnproved?: true } {
  return knowsStatus ? {} : { statusUnproved: true }
}

/** The operations that are proved, with those who signed them where that was checked. */
export function entriesOf({ history, places, signers }: ProvedDid): NonNullable<Proved['history']> {
  const signerAt = new Map(places.map((place, i) => [place, signers[i]]))
  const entries = (history?.entries ?? []).map(({ txid, height, time }, place) => ({
    ...{ txid: displayHash(txid), height, time },
    ...defined({ signedBy: signerAt.get(place) }),
  }))
  return { count: history?.count ?? 0, entries }
}
