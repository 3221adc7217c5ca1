import type { AnswerAge } from '../../identity/did/resolution.js'
import { ageOf, type OutOfStep, outOfStepError, type Standing } from './standing.js'

/** How the asker reads an answer. */
export interface AskerOptions {
  readonly withDocument?: boolean
  /** Whether it is told the age of an answer that has none in itself, as by a header of HTTP. */
  readonly showsAge?: boolean
}

/** Lets answers through as the standing of the node allows; all others are refused with `resolver-behind`. */
export class StepGate {
  readonly #standing: () => Standing

  constructor(standing: () => Standing) {
    this.#standing = standing
  }

  /**
   * Before what is there is looked up: its age, undefined in step. `showsAge`: whether the asker is told that age; an answer of
   * out of step without it is none.
   */
  require(showsAge: boolean): AnswerAge | undefined {
    const standing = this.#standing()
    if (standing.inStep) return undefined
    if (standing.answers === 'none') throw outOfStepError(standing)
    if (!showsAge && standing.answers !== 'all') throw withoutAge(standing)
    return ageOf(standing)
  }

  /** For an answer which says that something is not there, or how much there is: its age, undefined in step. */
  requireAll(): AnswerAge | undefined {
    const standing = this.#standing()
    if (standing.inStep || standing.answers === 'all') return ageOf(standing)
    throw outOfStepError(standing)
  }
}

function withoutAge({ answers, ...standing }: OutOfStep): Error {
  const missing = `${standing.missing}; an answer with \`context: true\` says how old it is`
  return outOfStepError({ ...standing, answers, missing })
}
