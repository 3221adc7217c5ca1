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
