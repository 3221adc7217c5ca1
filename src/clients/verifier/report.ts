import { RuleError } from '../../base/errors/rule-error.js'

/** Reports of checks: what was looked at, in this order, and what it showed. */

/** One check of a verifier. */
export interface Check<Name extends string = string> {
  readonly name: Name
  readonly holds: boolean
  /** A sentence for people. */
  readonly says: string
}

/** Thrown by a check that does not hold. Any other error means that it could not be carried out. */
export class Invalid extends Error {}

/** Runs checks one after the other, up to the first that does not hold. */
export class CheckList<Name extends string> {
  readonly checks: Check<Name>[] = []

  get valid(): boolean {
    return this.checks.every(({ holds }) => holds)
  }

  /** The result of a check, which returns it with its sentence; undefined if it does not hold, or one before it did not. */
  async run<T>(name: Name, check: () => Promise<readonly [T, string]> | readonly [T, string]): Promise<T | undefined> {
    if (!this.valid) return undefined
    try {
      const [result, says] = await check()
      this.checks.push({ name, holds: true, says })
      return result
    } catch (error) {
      if (!(error instanceof Invalid) && !(name === 'form' && error instanceof RuleError)) throw error
      this.checks.push({ name, holds: false, says: error.message })
      return undefined
    }
  }
}
