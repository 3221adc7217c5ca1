import { join } from 'node:path'
import type { Log } from '../../base/runtime/env.js'
import { fromUtf8 } from '../../base/primitives/bytes.js'
import type { ForkEvidence } from '../../identity/proofs/fork.js'
import { replaceFile } from '../../ledger/storage/replace-file.js'

/** Writes evidence of a fork beside the rows of a node, as `didledger light check-evidence` reads it; one file for each node. */
export async function keepEvidence(directory: string, evidence: ForkEvidence, log: Pick<Log, 'error'>): Promise<void> {
  const path = join(directory, 'fork-evidence.json')
  try {
    await replaceFile(path, [fromUtf8(`${JSON.stringify(evidence, null, 2)}\n`)])
    log.error(
      { path },
      'the evidence of a fork is in this file; "didledger light check-evidence" shows it to strangers',
    )
  } catch (error) {
    log.error({ path, reason: String(error) }, 'the evidence of a fork could not be written')
  }
}
