import type {
  GivenUpOperation,
  ResolveContext,
  ResolvedTransaction,
  ResolveResult,
} from '../../identity/did/resolution.js'
import type { StateProof } from '../../identity/did/state-proof.js'
import type { KnownDid } from './read-did.js'

/** An answer that is sent many times: its JSON text is made once. */
export class ResolverAnswer implements ResolveResult {
  readonly did: string
  readonly status: 0 | 1 | 2 | 3
  declare readonly transaction?: readonly ResolvedTransaction[]
  declare readonly givenUp?: readonly GivenUpOperation[]
  declare readonly total?: number
  declare readonly start?: number
  declare readonly count?: number
  declare readonly context?: ResolveContext
  declare readonly proof?: StateProof
  #json: string | undefined
  readonly #until: number | undefined

  constructor(did: string, status: 0 | 1 | 2 | 3, known: KnownDid) {
    const { exists, transactions, givenUp, slice, context, proof } = known
    // Expired: a devnet's clock may go back.
    this.#until = status === 0 ? known.expiresAt * 1000 : status === 2 ? Infinity : undefined
    this.did = did
    this.status = status
    if (exists) this.transaction = transactions
    if (givenUp !== undefined) this.givenUp = givenUp
    if (slice !== undefined) Object.assign(this, slice)
    if (context !== undefined) this.context = context
    if (proof !== undefined) this.proof = proof
  }

  /** Unix milliseconds from which the status is another one while the tip does not move; undefined: it may change at any time. */
  get until(): number | undefined {
    return this.#until
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this))
  }
}

/** JSON text of a result. */
export function resultJson(result: ResolveResult): string {
  return result instanceof ResolverAnswer ? result.json : JSON.stringify(result)
}
