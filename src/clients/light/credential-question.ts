import { isCredentialId } from '../../identity/did/operations/credential-operation.js'
import type { CredentialResult } from '../../identity/did/resolution.js'
import { displayHash } from '../../base/primitives/bytes.js'
import {
  checkCredentialAnswer,
  type CredentialQuestion,
  type ProvedCredential,
} from '../../identity/proofs/credential-answer.js'
import { chainIds } from '../../identity/did/chain-ids.js'
import { fullDid, requireKnown } from '../../identity/proofs/did-question.js'
import { fail } from '../../identity/proofs/proof-failure.js'
import { type Members, text, whole } from '../../identity/proofs/read-json.js'
import { answerBounds } from './answer-bounds.js'
import type { Question } from './compare-answers.js'
import type { Proved } from './proved-answer.js'

/** A question about a credential, loaded when the first is asked. */

/** Reads the parameters of a question about a credential; `form` for values that they cannot have, and for one that is not known. */
export function readCredentialQuestion({ id, issuer, height, ...others }: Members): CredentialQuestion {
  requireKnown(others)
  const absolute = text(id)
  const isId = isCredentialId(absolute, chainIds)
  return {
    id: isId ? absolute : fail('form', `no id of a credential: ${absolute.slice(0, 300)}`),
    ...(issuer !== undefined && { issuer: fullDid(issuer) }),
    ...(height !== undefined && { height: whole(height) }),
  }
}

export function credentialQuestion(question: CredentialQuestion): Question<ProvedCredential> {
  const { id, height } = question
  return {
    ask: (server) => server.call('did_resolveCredential', { ...question, proof: true }, answerBounds.credential),
    check: (sent, trust) => checkCredentialAnswer(sent, question, trust),
    leaves: ({ said }) => said,
    asOf: (at) => ({ ...credentialQuestion({ ...question, height: at }), isPast: height !== undefined }),
    isPast: height !== undefined,
    result: (proved) => ({ ...credentialResult(id, proved), proved: sayings(proved) }),
  }
}

export function credentialResult(id: string, { status, transactions }: ProvedCredential): CredentialResult {
  return { id, status, ...(transactions.length > 0 && { transaction: transactions }) }
}

/** Signers of operations on a credential: a question may name a DID whose operations count for no other one. */
export function sayings({ said, credential }: ProvedCredential): Pick<Proved, 'said'> {
  const roleOf = (signer: string, place: number) =>
    place === 0 ? 'holder' : signer === credential?.issuer ? 'issuer' : 'asked'
  return {
    said: said.flatMap(({ name, history }, place) => {
      if (!('signer' in name)) return []
      const operations = (history?.entries ?? []).map(({ txid }) => displayHash(txid))
      return [{ signer: name.signer, as: roleOf(name.signer, place), operations }]
    }),
  }
}
