import { displayHash, equalBytes } from '../../base/primitives/bytes.js'
import { type DidQuestion, readDidQuestion } from '../../identity/proofs/did-question.js'
import type { CredentialQuestion } from '../../identity/proofs/credential-answer.js'
import { fail } from '../../identity/proofs/proof-failure.js'
import { displayHashText, type Members, members, requireFormat } from '../../identity/proofs/read-json.js'
import type { Checkpoint, Trust } from '../../identity/proofs/trust-root.js'
import type { BlockAges } from './block-age.js'
import type { ProvedAnswer, Question } from './compare-answers.js'
import { credentialQuestion, credentialResult, readCredentialQuestion, sayings } from './credential-question.js'
import { didQuestion, entriesOf, resolved, unproved } from './did-question.js'
import { bundledLists } from './follow-changes.js'
import { FollowedChain } from './followed-chain.js'
import { FollowedValidators } from './followed-validators.js'
import type { ChainOptions } from './trust-basis.js'
import type { Witnesses } from './witnesses.js'
import type { LightCredential, LightResult } from './proved-answer.js'

/** A bundle: an answer with all that proves it from a trust root on. Loaded when the first is checked. */

const bundleFormat = 'didledger/bundle/1'

/** Trust with which a bundle is checked. */
export interface BundleTrust extends ChainOptions {
  readonly checkpoint: Checkpoint | undefined
  readonly ages: BlockAges
  /** Who has to have cosigned its block; undefined: no witness is needed. */
  readonly witnesses?: Pick<Witnesses, 'require'> | undefined
}

/** Checks a bundle; its age only with `maxAge`, in seconds. */
export async function checkBundle(
  sent: unknown,
  maxAge: number | undefined,
  believed: BundleTrust,
): Promise<LightResult | LightCredential> {
  const { trust, checkpoint, ages, signatures } = believed
  const { format, asked: params, answer: given, changes, headers } = members(sent, 'a bundle')
  requireFormat(format, bundleFormat)
  requireChain(given, trust)
  const question = questionIn(members(params, 'the question'))
  const now = ages.now()
  const chain = await chainOf({ changes, headers }, believed, now)
  const oldRoot = checkpoint === undefined ? ages.oldRoot(trust) : undefined
  const check = async <P extends ProvedAnswer>(one: Question<P>) => {
    const checked = await signatures.settle(one.check(given, { ...chain.known, now }))
    const answer = (await believed.witnesses?.require(checked)) ?? checked
    // A block of the future has no age.
    ages.requirePast(answer.block)
    ages.requireFresh(answer.block, maxAge, () => one.result(answer))
    return { answer, proved: { ...ages.proved(answer.block, []), ...oldRoot } }
  }
  if ('id' in question) {
    const { answer, proved } = await check(credentialQuestion(question))
    return { ...credentialResult(question.id, answer), proved: { ...proved, ...sayings(answer) } }
  }
  const { answer, proved } = await check(didQuestion(question))
  return { ...resolved(question, answer), proved: { ...proved, ...unproved(answer), history: entriesOf(answer) } }
}

/** The question of a bundle, in the parameters of a node: `proof` decides whether a DID is proved by all entries. */
function questionIn({ proof, ...asked }: Members): DidQuestion | CredentialQuestion {
  if (proof !== undefined && proof !== true && proof !== 'history') fail('form', 'proof is neither true nor history')
  if (asked['did'] === undefined) return readCredentialQuestion(asked)
  return readDidQuestion({ ...asked, ...(proof === 'history' && { history: true }) })
}

/** The chain by what a bundle holds of it: changes of validators, or headers. */
async function chainOf(
  { changes, headers: sent }: { readonly changes: unknown; readonly headers: unknown },
  believed: BundleTrust,
  now: number,
): Promise<FollowedChain> {
  const { trust, signatures, checkpoint } = believed
  const seen = { header: trust.header }
  if (trust.work !== undefined) {
    const { bundledWork } = await import('./follow-work.js')
    return new FollowedChain(trust, seen, bundledWork(believed, sent, checkpoint, now))
  }
  const lists = await bundledLists(trust, changes, checkpoint, signatures)
  return new FollowedChain(trust, seen, new FollowedValidators(believed, lists, checkpoint?.hash))
}

/** Throws `chain` for an answer of another one, whose changes of validators would fail by another name. */
function requireChain(answer: unknown, { chain }: Trust): void {
  const { proof } = members(answer, 'an answer')
  if (proof === undefined) fail('proof-missing', 'an answer without a proof is not believed')
  const sent = displayHashText(members(proof, 'a proof')['chain'])
  if (!equalBytes(sent, chain)) fail('chain', `it is of the chain ${displayHash(sent)}`)
}
