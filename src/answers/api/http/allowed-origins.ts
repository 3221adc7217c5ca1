import type { Log } from '../../../base/runtime/env.js'
import { anyOrigin, originOf } from './origin.js'

/** @tuning count: refused pages that one devnet names in its log */
const mostReported = 16

/** Refuses a page of another site. */
export interface PageRefusal {
  readonly reason: string
  /** Origin that the owner of a devnet could allow; undefined: none would help. */
  readonly origin?: string | undefined
}

/** Pages of other sites that may use a devnet as its own pages do. */
export class AllowedOrigins {
  readonly #allowed: ReadonlySet<string>
  readonly #reported = new Set<string>()
  readonly #log: Log

  /** `allowed`: as {@link originOf} returns them. */
  constructor(allowed: readonly string[], log: Log) {
    this.#allowed = new Set(allowed)
    this.#log = log
  }

  /** Whether Origin names an allowed page, character by character. */
  has(origin: string | undefined): origin is string {
    return origin !== undefined && this.#allowed.has(origin)
  }

  /** Headers by which a page of an allowed origin reads what is kept from other sites. */
  headersFor(origin: string): Record<string, string> {
    return { ...anyOrigin, 'access-control-allow-origin': origin, vary: 'Origin' }
  }

  /** Refuses a page, and names the flag that would let it in. */
  refusal(reason: string, origin: string | undefined): PageRefusal {
    if (origin === undefined || originOf(origin) !== origin) return { reason }
    return { reason: `${reason}: start the devnet with ${flagFor(origin)} to let it`, origin }
  }

  /** Logs a refused page: each origin once, so that a page that tries again and again does not fill the log. */
  report({ origin }: PageRefusal): void {
    if (origin === undefined || this.#reported.has(origin) || this.#reported.size >= mostReported) return
    this.#reported.add(origin)
    this.#log.warn({ origin }, `a page of another site was refused; ${flagFor(origin)} lets it use this devnet`)
  }
}

const flagFor = (origin: string) => `--allow-origin ${origin}`
