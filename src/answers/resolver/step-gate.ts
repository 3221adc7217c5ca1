import type { AnswerAge } from '../../identity/did/resolution.js'
import { ageOf, type OutOfStep, outOfStepError, type Standing } from './standing.js'

/** How the asker reads an answer. */
export interface AskerOptions {
  readonly withDocument?: boolean
  /** Whether the client gets the age of an answer outside of it, as by a header of HTTP. */
  readonly showsAge?: boolean
}

/** Lets answers through as the standing of the node allows; all others are refused with `resolver-behind`. */
export class StepGate {
  readonly #standing: () => Standing

  constructor(standing: () => Standing) {
    this.#standing = standing
  }

  /**
   * Returns the age before a lookup of existing rows, undefined in step. `showsAge`: whether the client gets that age; an answer of out of
   * step without it is none.
   */
  require(showsAge: boolean): AnswerAge | undefined {
    const standing = this.#standing()
    if (standing.inStep) return undefined
    if (standing.answers === 'none') throw outOfStepError(standing)
    if (!showsAge && standing.answers !== 'all') throw withoutAge(standing)
    return ageOf(standing)
  }

  /** Returns the age for an answer about absence, or about a total; undefined in step. */
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
