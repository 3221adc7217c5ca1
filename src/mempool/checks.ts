import type { SignatureCache } from '../crypto/signature-cache.js'
import { failureOf, type Verifier } from '../crypto/verifier.js'
import type { RuleError } from '../errors/rule-error.js'
import type { SignatureCheck } from '../primitives/signature.js'

/** Checks that are verified in one call: one that fails leaves the rest of its portion to be verified one by one. */
const checksOfPortion = 1024

interface PoolChecksDependencies {
  readonly verifier: Verifier
  readonly signatures: SignatureCache
}

/** Verifies signatures of pooled transactions, each once as long as the cache keeps it. */
export class PoolChecks {
  readonly #parts: PoolChecksDependencies

  constructor(parts: PoolChecksDependencies) {
    this.#parts = parts
  }

  /** The checks of a pooled transaction that are still to be verified before a block may bring it. */
  unverified(checks: readonly SignatureCheck[]): readonly SignatureCheck[] {
    // Programs sign the bytes of the transaction and nothing else: they were verified when it came in.
    const open = checks.filter(({ code }) => code !== 'tx-signature')
    return open.length === 0 ? open : this.#parts.signatures.unknown(open)
  }

  /** Undefined when all of these checks hold, which the cache keeps; else the RuleError of the first that does not. */
  async failure(checks: readonly SignatureCheck[]): Promise<RuleError | undefined> {
    const { verifier, signatures } = this.#parts
    const failing = await verifier.verifyAll(checks)
    signatures.add(failing < 0 ? checks : checks.slice(0, failing))
    return failing < 0 ? undefined : failureOf(checks[failing] as SignatureCheck)
  }

  /** Verifies any number of checks in bulk, as long as they are `wanted`; whether all that were verified hold. */
  async allHold(checks: readonly SignatureCheck[], wanted: () => boolean): Promise<boolean> {
    let all = true
    for (let start = 0; start < checks.length && wanted(); start += checksOfPortion) {
      if ((await this.failure(checks.slice(start, start + checksOfPortion))) !== undefined) all = false
    }
    return all
  }
}
