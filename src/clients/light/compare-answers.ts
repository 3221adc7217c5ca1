import { equalBytes } from '../../base/primitives/bytes.js'
import type { AnchoredBlock } from '../../identity/proofs/anchor.js'
import type { AnswerTrust, ProvedLeaf } from '../../identity/proofs/proof-answer.js'
import type { Checking } from '../../identity/proofs/signature-checks.js'
import { fail } from '../../identity/proofs/proof-failure.js'
import type { Server } from './ask-server.js'
import { requireOneHistory, requireSame } from './contradiction.js'
import type { FollowedChain } from './followed-chain.js'
import { asLightError, LightError } from './light-error.js'
import type { Proved } from './proved-answer.js'

/** Answers of several servers to one question: which hold, which is the highest, and whether the others agree with it. */

/** Common result of every check. */
export interface ProvedAnswer {
  readonly block: AnchoredBlock
}

/** One question, as it is asked and as its answers are compared. */
export interface Question<P extends ProvedAnswer> {
  ask(server: Server): Promise<unknown>
  check(sent: unknown, trust: AnswerTrust): Checking<P>
  /** The leaf, and the answer's word about it. */
  leaves(proved: P): readonly ProvedLeaf[]
  /** The same question as of the block of a height that the asker did not choose: it may not be old. */
  asOf(height: number): Question<P>
  /** As of a block that was chosen: it may be old. */
  readonly isPast: boolean
  /** The state that the answer has to be of. */
  readonly sameAs?: P
  /** Whether the answer came from elsewhere and tells nothing about a server. */
  readonly isGiven?: boolean
  /** The failure where the answer is too old, with what is proved of it besides its block. */
  result(proved: P): { readonly proved: Partial<Proved> }
}

export interface Held<P> {
  readonly server: string
  readonly proved: P
}

export interface Failed {
  readonly server: string
  readonly error: LightError
}

/**
 * Splits answers into valid and failed ones. On a chain of work the valid ones are checked again: another server may have shown a chain with
 * more work meanwhile.
 */
export function settled<P extends ProvedAnswer>(
  asked: readonly (Held<P> | Failed)[],
  { known: { requireWork } }: FollowedChain,
): { readonly held: Held<P>[]; readonly failed: Failed[] } {
  const held: Held<P>[] = []
  const failed: Failed[] = []
  for (const one of asked) {
    if ('error' in one) {
      failed.push(one)
      continue
    }
    try {
      requireWork?.(one.proved.block.header)
      held.push(one)
    } catch (error) {
      failed.push({ server: one.server, error: asLightError(error) })
    }
  }
  return { held, failed }
}

/** The highest answer, those that agree with it and with each other, and those that exclude one of these. */
export function agreeing<P extends ProvedAnswer>(
  held: readonly Held<P>[],
  question: Question<P>,
): { readonly best: P | undefined; readonly agreed: Held<P>[]; readonly excluded: Failed[] } {
  const falling = [...held].sort((a, b) => b.proved.block.header.height - a.proved.block.header.height)
  const [highest] = falling
  const agreed: Held<P>[] = []
  const excluded: Failed[] = []
  for (const one of falling) {
    try {
      for (const higher of agreed) requireAgreement(one.proved, higher.proved, question)
      agreed.push(one)
    } catch (error) {
      excluded.push({ server: one.server, error: asLightError(error) })
    }
  }
  return { best: highest?.proved, agreed: held.filter((one) => agreed.includes(one)), excluded }
}

/** Throws a `Contradiction` where two answers exclude each other. Leaves are told apart by name: two answers need not have the same ones. */
export function requireAgreement<P extends ProvedAnswer>(lower: P, higher: P, { leaves }: Question<P>): void {
  requireSame(lower.block, higher.block)
  for (const leaf of leaves(lower)) {
    const other = leaves(higher).find(({ name }) => leafText(name) === leafText(leaf.name))
    if (other === undefined) continue
    requireOneHistory({ block: lower.block, leaf }, { block: higher.block, leaf: other })
  }
}

function leafText(name: ProvedLeaf['name']): string {
  return 'did' in name ? name.did : `${name.id} ${name.signer}`
}

/** Throws unless an answer is of the very state that it has to complete. */
export function requireState<P extends ProvedAnswer>(proved: P, question: Question<P>): void {
  const { sameAs } = question
  if (sameAs === undefined) return
  requireAgreement(sameAs, proved, question)
  requireAgreement(proved, sameAs, question)
  const { height, hash } = proved.block.header
  if (!equalBytes(hash, sameAs.block.header.hash)) fail('answer-height', `it is as of another block ${height}`)
}

/** Throws `rollback` where even the highest answer is below what was seen. */
export function requireRise({ header: { height } }: AnchoredBlock, { header: seen }: FollowedChain['seen']): void {
  if (height < seen.height) throw rollback(height, seen.height)
}

export function rollback(height: number, seen: number): LightError {
  return new LightError('rollback', `block ${height}, after ${seen} was seen`)
}

/** One failure that all servers share, else `quorum` with the failure of each. */
export function tooFew(failed: readonly Failed[], held: number): LightError {
  const [first] = failed
  const names = new Set(failed.map(({ error }) => error.failure))
  if (first !== undefined && held === 0 && names.size === 1) return first.error
  const failures = failed.map(({ server, error: { failure, message } }) => ({ server, failure, message }))
  return new LightError('quorum', `the answers of ${held} servers hold, which is too few`, { failures })
}
