import { LightError, type LightFailure } from '../../clients/light/light-error.js'
import type { LightResolver } from '../../clients/light/light-resolver.js'
import type { Log } from '../../base/runtime/env.js'

/**
 * A light resolver of a devnet. Such a chain goes back at its user's command, and begins anew with its process: `rollback` and `fork` show
 * no lie there, since its keys are public.
 */

type Resolving = Pick<LightResolver, 'resolve' | 'resolveCredential'>

export class DevnetLight implements Resolving {
  #light: Promise<Resolving>
  readonly #anew: () => Promise<Resolving>
  readonly #log: Pick<Log, 'warn'>
  #timesForgotten = 0

  /** `anew` makes a resolver that has seen nothing yet. */
  constructor(light: Resolving, anew: () => Promise<Resolving>, log: Pick<Log, 'warn'>) {
    this.#light = Promise.resolve(light)
    this.#anew = anew
    this.#log = log
  }

  /** How often the devnet went back or began anew. */
  get timesForgotten(): number {
    return this.#timesForgotten
  }

  resolve(...asked: Parameters<Resolving['resolve']>): ReturnType<Resolving['resolve']> {
    return this.#ask((light) => light.resolve(...asked))
  }

  resolveCredential(...asked: Parameters<Resolving['resolveCredential']>): ReturnType<Resolving['resolveCredential']> {
    return this.#ask((light) => light.resolveCredential(...asked))
  }

  /** Asks once more, by a resolver that has seen nothing yet, where the devnet is below or beside what was seen. */
  async #ask<T>(question: (light: Resolving) => Promise<T>): Promise<T> {
    const asked = this.#light
    try {
      return await question(await asked)
    } catch (error) {
      if (!(error instanceof LightError) || !saysOther(error)) throw error
      // Questions that fail together begin anew once.
      if (this.#light === asked) {
        this.#log.warn(
          { failure: error.failure },
          'the devnet went back or began anew: what was seen of it is forgotten',
        )
        this.#timesForgotten++
        const next = this.#anew()
        this.#light = next
        // Its files may be gone for a moment: the next question tries again.
        next.catch(() => (this.#light = asked))
      }
      return question(await this.#light)
    }
  }
}

const saysSo: readonly LightFailure[] = ['rollback', 'contradiction', 'fork']

function saysOther({ failure, failures = [] }: LightError): boolean {
  return [failure, ...failures.map((one) => one.failure)].some((one) => saysSo.includes(one))
}
