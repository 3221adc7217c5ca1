import { dirname } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'
import type { LightOptions } from '../../clients/light/light-resolver.js'
import type { Log } from '../../base/runtime/env.js'
import { isThere, readTextFile, writeFileAtomically } from '../../clients/wallet/files.js'

/** The state of a light resolver in a file: what it has seen must not be forgotten when it starts again. */

export type Keeping = Required<Pick<LightOptions, 'load' | 'save'>>

/**
 * Reads and writes the state of a file, which need not be there yet. A file that cannot be read is a {@link UserError}; one that
 * cannot be written is logged with what follows from that, since answers hold without it.
 */
export function stateFile(
  path: string,
  log: Pick<Log, 'error'>,
  unkept = 'the state is not kept: after a restart, older answers would be believed',
): Keeping {
  return {
    load: () => (isThere(path, 'state') ? readTextFile(path, 'state') : undefined),
    save: (state) => {
      try {
        writeFileAtomically(path, state, { mode: 0o600, replace: true })
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        log.error({ error: error.message }, unkept)
      }
    },
  }
}

/**
 * Keeps other processes away from the file of --state, by FILE.lock beside it; the result ends that. Each of two would write what it
 * alone has seen. A UserError where another process has the file, and for one in no folder: the lock would make the folder.
 */
export async function lockState(file: string, named: string): Promise<() => Promise<void>> {
  const folder = dirname(file)
  if (!isThere(folder, 'folder')) throw new UserError(`--state ${file}: there is no folder ${folder}`, 2)
  // A file that cannot be read is refused before there is a lock beside it.
  if (isThere(file, 'state')) readTextFile(file, 'state')
  const { lockPath } = await import('../../ledger/storage/care/level/lock-path.js')
  return lockPath(`${file}.lock`, `${named} in ${file}`)
}
