import type { AnswerAge } from '../../identity/did/resolution.js'
import { RuleError } from '../../base/errors/rule-error.js'

/** Why a node is out of step with its chain. */
export const stepReasons = {
  behind: 'blocks are known that are not connected, or a peer that says it has more is being asked',
  clock: 'blocks are ahead of the clock of the node, so it cannot tell how old its tip is',
  old: 'the tip is older than the pace of the chain allows',
  alone: 'the node expects peers, and none that has shown its chain is connected',
} as const
export type StepReason = keyof typeof stepReasons

/** The tip as of which answers hold, and how old it is in seconds; 0 where its time is ahead of the clock. */
export type TipAge = Pick<AnswerAge, 'height' | 'age'>

/** Whether a node may say what is so now, by node/standing/in-step.ts. */
export type Standing = InStep | OutOfStep

export interface InStep extends TipAge {
  readonly inStep: true
}

export interface OutOfStep extends TipAge {
  readonly inStep: false
  readonly reason: StepReason
  /** A sentence for people: what is missed. */
  readonly missing: string
  /** Answers given nevertheless: `none`; `found`: what is there, with its age; `all`: also that something is not, by the owner's will. */
  readonly answers: 'none' | 'found' | 'all'
}

/** A standing out of step, as text. */
export function standingText({ height, age, missing }: OutOfStep): string {
  return `at height ${height}, whose block is ${age} s old: ${missing}`
}

/** The error of a resolver that cannot resolve now. */
export function outOfStepError(standing: OutOfStep): RuleError {
  return new RuleError(
    'resolver-behind',
    `the node is not in step with its chain (${standingText(standing)}); ask again later`,
  )
}

/** The height and age that an answer has to carry; undefined in step. */
export function ageOf(standing: Standing): AnswerAge | undefined {
  if (standing.inStep) return undefined
  const { height, age, answers } = standing
  return { height, age, ...(answers === 'all' && { always: true }) }
}
