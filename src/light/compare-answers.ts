import type { AnchoredBlock } from '../proofs/anchor.js'
import type { AnswerTrust } from '../proofs/answer.js'
import type { Checking } from '../proofs/checking.js'
import { mayBegin } from '../proofs/history-prefix.js'
import type { ProvedHistory } from '../proofs/map-proof.js'
import type { Server } from './ask-server.js'
import { evidenceOf, type FollowedChain, requireSame } from './followed-chain.js'
import { asLightError, LightError } from './light-error.js'

/** Answers of several servers to one question: which hold, which is the highest, and whether they contradict each other. */

/** What every check ends with. */
export interface ProvedAnswer {
  readonly block: AnchoredBlock
}

/** One question, as it is asked and as its answers are compared. */
export interface Question<P extends ProvedAnswer> {
  ask(server: Server): Promise<unknown>
  check(sent: unknown, trust: AnswerTrust): Checking<P>
  /** In an order that two answers share. */
  histories(proved: P): readonly (ProvedHistory | undefined)[]
  /** As of a block that was chosen: it may be old. */
  readonly isPast: boolean
  /** Of an answer that came from elsewhere, and says nothing of a server. */
  readonly isGiven?: boolean
  result(proved: P): object
}

export interface Held<P> {
  readonly server: string
  readonly proved: P
}

export interface Failed {
  readonly server: string
  readonly error: LightError
}

/** What holds, and what does not: answers of miners are tested again, since another server may have shown a chain with more work. */
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

/** The highest answer. Throws `fork` where another contradicts it. */
export function highest<P extends ProvedAnswer>(held: readonly Held<P>[], question: Question<P>): P | undefined {
  const [best, ...others] = held
    .map(({ proved }) => proved)
    .sort((a, b) => b.block.header.height - a.block.header.height)
  if (best === undefined) return undefined
  const known = question.histories(best)
  for (const other of others) {
    requireSame(best.block, other.block)
    const contradicts = question.histories(other).some((history, i) => {
      const lower = { height: other.block.header.height, history }
      return !mayBegin(lower, { height: best.block.header.height, history: known[i] })
    })
    if (!contradicts) continue
    const evidence = evidenceOf(best.block, other.block)
    throw new LightError('fork', 'two confirmed histories contradict each other', { evidence })
  }
  return best
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
