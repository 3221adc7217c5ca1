import { didMethod } from '../primitives/did-method.js'
import type { CredentialResult } from '../did/resolution.js'
import { checkCredentialAnswer, type ProvedCredential } from '../proofs/credential-answer.js'
import type { AnswerTrust } from '../proofs/answer.js'
import type { Server } from './ask-server.js'

/** A question about a credential, loaded when the first is asked. */

export function credentialQuestion({ id, issuer }: { readonly id: string; readonly issuer: string | undefined }) {
  const asked = issuer === undefined || issuer.startsWith('did:') ? issuer : `did:${didMethod}:${issuer}`
  const question = { id, ...(asked !== undefined && { issuer: asked }) }
  return {
    ask: (server: Server) => server.call('did_resolveCredential', { ...question, proof: true }),
    check: (sent: unknown, trust: AnswerTrust) => checkCredentialAnswer(sent, question, trust),
    histories: ({ said }: ProvedCredential) => said.map(({ history }) => history),
    isPast: false,
    result: (proved: ProvedCredential) => credentialResult(id, proved),
  }
}

export function credentialResult(id: string, { status, transactions }: ProvedCredential): CredentialResult {
  return { id, status, ...(transactions.length > 0 && { transaction: transactions }) }
}
