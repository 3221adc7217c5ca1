import { RuleError } from '../errors.js'
import type { SignatureCheck } from '../primitives/signature.js'

/** Runs signature checks in bulk without holding the event loop. */
export interface Verifier {
  /** Index of the first check that does not hold, or -1 when all do. Rejects only after `close`. */
  verifyAll(checks: readonly SignatureCheck[]): Promise<number>
  /** Releases every thread. Calls still under way reject. */
  close(): Promise<void>
}

/** Resolves when every check holds; otherwise rejects with a RuleError of the first failing check's code and subject. */
export async function runChecks(checks: readonly SignatureCheck[], verifier: Verifier): Promise<void> {
  const failing = checks[await verifier.verifyAll(checks)]
  if (failing !== undefined) throw new RuleError(failing.code, `${failing.subject}: the signature does not verify`)
}

/** Checks are handed over in portions of this many: enough for each thread to have some to go on with. */
const portion = 256

/** Verifies checks while further ones are still being found. */
export class RunningChecks {
  readonly #verifier: Verifier
  readonly #runs: Promise<void>[] = []
  #waiting: SignatureCheck[] = []

  constructor(verifier: Verifier) {
    this.#verifier = verifier
  }

  add(checks: readonly SignatureCheck[]): void {
    this.#waiting.push(...checks)
    if (this.#waiting.length >= portion) this.#run()
  }

  /** Settles like {@link runChecks} over everything that was added. */
  async finish(): Promise<void> {
    this.#run()
    for (const run of this.#runs) await run
  }

  #run(): void {
    const run = runChecks(this.#waiting, this.#verifier)
    // Whoever calls finish hears of it; nobody does when the block breaks another rule first.
    run.catch(() => {})
    this.#runs.push(run)
    this.#waiting = []
  }
}
