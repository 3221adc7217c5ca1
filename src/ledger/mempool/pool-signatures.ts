import type { SignatureCache } from '../../base/crypto/signature-cache.js'
import { failureOf, type Verifier } from '../../base/crypto/verifier.js'
import type { RuleError } from '../../base/errors/rule-error.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'

/** Checks verified in one call; a failure leaves the rest of its portion to be verified one by one. */
const checksOfPortion = 1024

interface PoolChecksDependencies {
  readonly verifier: Verifier
  readonly signatures: SignatureCache
}

/** Verifies signatures of pooled transactions, each once while the cache keeps it. */
export class PoolChecks {
  readonly #dependencies: PoolChecksDependencies

  constructor(dependencies: PoolChecksDependencies) {
    this.#dependencies = dependencies
  }

  /** Checks of a pooled transaction still to be verified before it is mined. */
  unverified(checks: readonly SignatureCheck[]): readonly SignatureCheck[] {
    // Programs sign only the bytes of the transaction: verified on acceptance.
    const open = checks.filter(({ code }) => code !== 'tx-signature')
    return open.length === 0 ? open : this.#dependencies.signatures.unknown(open)
  }

  /** Verifies the checks and caches valid ones. Undefined when all hold; else the RuleError of the first that fails. */
  async failure(checks: readonly SignatureCheck[]): Promise<RuleError | undefined> {
    const { verifier, signatures } = this.#dependencies
    const failing = await verifier.verifyAll(checks)
    signatures.add(failing < 0 ? checks : checks.slice(0, failing))
    return failing < 0 ? undefined : failureOf(checks[failing] as SignatureCheck)
  }

  /** Verifies any number of checks in portions, while `wanted`; whether all verified ones hold. */
  async allHold(checks: readonly SignatureCheck[], wanted: () => boolean): Promise<boolean> {
    let all = true
    for (let start = 0; start < checks.length && wanted(); start += checksOfPortion) {
      if ((await this.failure(checks.slice(start, start + checksOfPortion))) !== undefined) all = false
    }
    return all
  }
}
