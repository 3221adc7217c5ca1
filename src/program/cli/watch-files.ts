import { closeSync, openSync } from 'node:fs'
import { UserError } from '../../base/errors/rule-error.js'
import type { Log } from '../../base/runtime/env.js'
import { asLightError } from '../../clients/light/light-error.js'
import { fileReason } from '../../clients/wallet/files.js'
import type { Trust } from '../../identity/proofs/trust-root.js'
import { type Keeping, lockState, stateFile } from './light-state.js'

/** The files of a watch: FILE with what was told, FILE.light with what its light resolver has seen, and FILE.lock. */

/** Files that this process alone uses until they are released. */
export interface WatchFiles {
  readonly told: Keeping
  readonly seen: Keeping
  release(): Promise<void>
}

/**
 * Opens the files of a watch. A UserError where another process uses them, where they cannot be written, and where what was seen is damaged
 * or of another chain: no wait mends that.
 */
export async function openWatchFiles(state: string, trust: Trust, log: Pick<Log, 'error'>): Promise<WatchFiles> {
  const release = await lockState(state, 'the state of a watch')
  try {
    const told = stateFile(state, log, 'what was told is not kept: after a restart, it is told again')
    const seen = stateFile(`${state}.light`, log)
    await requireMemory(`${state}.light`, seen, trust)
    return { told, seen, release }
  } catch (error) {
    await release()
    throw error
  }
}

async function requireMemory(path: string, { load }: Keeping, trust: Trust): Promise<void> {
  const kept = await load()
  if (kept === undefined) return
  const { loadMemory } = await import('../../clients/light/light-memory.js')
  const { Signatures } = await import('../../clients/light/signatures.js')
  try {
    await loadMemory(kept, { trust, signatures: new Signatures() })
  } catch (error) {
    throw new UserError(`${path} cannot be used: ${asLightError(error).message}; name another file with --state`)
  }
}

/** Throws a UserError for a file to which nothing can be added, before a message has to go there. It is made if absent. */
export function requireAppendable(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    throw new UserError(`the dead letters cannot be written to ${path}: ${fileReason(error)}`)
  }
}
