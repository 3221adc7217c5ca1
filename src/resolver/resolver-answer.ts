import type { ResolveContext, ResolvedTransaction, ResolveResult } from '../did/resolution.js'
import type { KnownDid } from './read-did.js'

/** An answer that is sent many times: its JSON text is made once. */
export class ResolverAnswer implements ResolveResult {
  readonly did: string
  readonly status: 0 | 1 | 2
  readonly transaction: readonly ResolvedTransaction[]
  declare readonly total?: number
  declare readonly start?: number
  declare readonly count?: number
  declare readonly context?: ResolveContext
  #json: string | undefined

  constructor(did: string, status: 0 | 1 | 2, { transactions, slice, context }: KnownDid) {
    this.did = did
    this.status = status
    this.transaction = transactions
    if (slice !== undefined) Object.assign(this, slice)
    if (context !== undefined) this.context = context
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this))
  }
}

/** JSON text of a result. */
export function resultJson(result: ResolveResult): string {
  return result instanceof ResolverAnswer ? result.json : JSON.stringify(result)
}
