/**
 * Verifies the signature checks that rules return, in bulk and beside the event loop.
 *
 *   checks of a transaction, block, confirm or vote
 *     -> SignatureCache.unknown       less those verified before
 *     -> runChecks / RunningChecks    all at once / while the caller still adds
 *     -> Verifier.verifyAll           fewer than 64: inline; else VerifierPool: Schedule -> packBatch -> worker threads
 *     -> verify                       P-256 by OpenSSL or in JavaScript
 *     -> resolved, or RuleError with code and subject of the first check that fails
 *
 * Imports errors, primitives, runtime; used by gateway, verifier, light, witness, chain, state, mempool, voting, network, wallet, registrar, devnet, node, library, cli, explorer.
 * - The result depends neither on the backend nor on the number of threads: always the first failing check.
 * - A thread that dies loses no check: its batches are verified again, in the end without threads.
 */
import { RuleError } from '../errors/rule-error.js'
import type { SignatureCheck } from '../primitives/signature.js'

/** Runs signature checks in bulk without blocking the event loop. */
export interface Verifier {
  /** Index of the first check that does not hold, or -1 if all do. Rejects only after `close`. */
  verifyAll(checks: readonly SignatureCheck[]): Promise<number>
  /** Releases every thread. Pending calls reject. */
  close(): Promise<void>
}

/** Resolves if every check holds; otherwise rejects with a RuleError of the first failing check's code and subject. */
export async function runChecks(checks: readonly SignatureCheck[], verifier: Verifier): Promise<void> {
  const failing = checks[await verifier.verifyAll(checks)]
  if (failing !== undefined) throw failureOf(failing)
}

/** The RuleError of a check that does not hold. */
export function failureOf({ code, subject }: SignatureCheck, owner?: Owner): RuleError {
  const named = owner === undefined ? {} : { transaction: owner.txid }
  return new RuleError(code, `${subject}: the signature does not verify`, named)
}

/** Checks per call of the verifier: enough to keep each thread busy. */
const portion = 256

/** Owner of a check; its txid is read only if the check fails. */
interface Owner {
  /** Display hex. */
  readonly txid: string
}

/** Verifies checks while the caller is still adding further ones. */
export class RunningChecks {
  readonly #verifier: Verifier
  readonly #runs: Promise<void>[] = []
  #waiting: SignatureCheck[] = []
  #owners: Owner[] = []

  constructor(verifier: Verifier) {
    this.#verifier = verifier
  }

  /** Adds the checks of one transaction, which a RuleError of {@link finish} names. */
  add(checks: readonly SignatureCheck[], owner: Owner): void {
    for (const check of checks) {
      this.#waiting.push(check)
      this.#owners.push(owner)
    }
    if (this.#waiting.length >= portion) this.#run()
  }

  /** Settles like {@link runChecks} over all checks added. */
  async finish(): Promise<void> {
    this.#run()
    for (const run of this.#runs) await run
  }

  #run(): void {
    const run = this.#verify(this.#waiting, this.#owners)
    // `finish` reports the rejection; it is never called if the block breaks another rule first.
    run.catch(() => {})
    this.#runs.push(run)
    this.#waiting = []
    this.#owners = []
  }

  async #verify(checks: readonly SignatureCheck[], owners: readonly Owner[]): Promise<void> {
    const index = await this.#verifier.verifyAll(checks)
    const failing = checks[index]
    if (failing !== undefined) throw failureOf(failing, owners[index])
  }
}
