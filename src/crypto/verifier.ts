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
