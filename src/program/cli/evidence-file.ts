import { UserError } from '../../base/errors/rule-error.js'
import type { Log } from '../../base/runtime/env.js'
import type { ForkEvidence } from '../../identity/proofs/fork.js'
import { writeFileAtomically } from '../../clients/wallet/files.js'

/** Writes evidence of a fork into a file, and says in the log what it is: without a file the log has all of it. */
export function keepEvidence(path: string | undefined, evidence: ForkEvidence, log: Pick<Log, 'error'>): void {
  const what =
    'validators confirmed two histories of this chain; "didledger light check-evidence" shows it to strangers'
  if (path === undefined) return log.error({ evidence: JSON.stringify(evidence) }, what)
  try {
    writeFileAtomically(path, `${JSON.stringify(evidence, null, 2)}\n`, { mode: 0o644, replace: true })
    log.error({ path }, what)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    log.error({ reason: error.message, evidence: JSON.stringify(evidence) }, what)
  }
}
