import { isIP } from 'node:net'
import type { Log } from '../../../base/runtime/env.js'
import { anyOrigin } from './origin.js'

/** @tuning count: refused pages that one devnet names in its log */
const mostReported = 16
/** @tuning characters: an origin that a refusal names; a name of DNS has 253 */
const longestNamed = 280

/** Refuses a page of another site. */
export interface PageRefusal {
  readonly reason: string
  /** Origin that the owner of a devnet could allow; undefined: none would help. */
  readonly origin?: string | undefined
}

/**
 * An origin as browsers send it: scheme and host in lowercase, no default port. Undefined for what is no origin of a page over HTTP,
 * or has more than that, such as a path or a slash at the end.
 */
export function originOf(text: string): string | undefined {
  if (!/^https?:\/\/[^/\\?#@\s]+$/i.test(text) || text.length > longestNamed || !URL.canParse(text)) return undefined
  const { origin, hostname } = new URL(text)
  // A browser takes more; of a refusal that names an origin these characters are safe in every shell.
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || /^[a-z0-9._-]+$/.test(hostname) ? origin : undefined
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
