import type { ResolveContext, ResolvedTransaction, ResolveResult } from '../did/resolution.js'
import type { StateProof } from '../did/state-proof.js'
import type { KnownDid } from './read-did.js'

/** An answer that is sent many times: its JSON text is made once. */
export class ResolverAnswer implements ResolveResult {
  readonly did: string
  readonly status: 0 | 1 | 2 | 3
  declare readonly transaction?: readonly ResolvedTransaction[]
  declare readonly total?: number
  declare readonly start?: number
  declare readonly count?: number
  declare readonly context?: ResolveContext
  declare readonly proof?: StateProof
  #json: string | undefined

  constructor(did: string, status: 0 | 1 | 2 | 3, { exists, transactions, slice, context, proof }: KnownDid) {
    this.did = did
    this.status = status
    if (exists) this.transaction = transactions
    if (slice !== undefined) Object.assign(this, slice)
    if (context !== undefined) this.context = context
    if (proof !== undefined) this.proof = proof
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this))
  }
}

/** JSON text of a result. */
export function resultJson(result: ResolveResult): string {
  return result instanceof ResolverAnswer ? result.json : JSON.stringify(result)
}
