import type { ResolvedTransaction, ResolveResult } from '../did/resolution.js'

/** An answer that is sent many times: its JSON text is made once. */
export class ResolverAnswer implements ResolveResult {
  readonly did: string
  readonly status: 0 | 1 | 2
  readonly transaction: readonly ResolvedTransaction[]
  #json: string | undefined

  constructor(did: string, status: 0 | 1 | 2, transaction: readonly ResolvedTransaction[]) {
    this.did = did
    this.status = status
    this.transaction = transaction
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this))
  }
}

/** JSON text of a result. */
export function resultJson(result: ResolveResult): string {
  return result instanceof ResolverAnswer ? result.json : JSON.stringify(result)
}
