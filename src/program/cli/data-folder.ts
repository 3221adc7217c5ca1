import { userInfo } from 'node:os'
import { isAbsolute, posix, win32 } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Spec } from '../../base/primitives/spec.js'
import type { CliContext } from './cli-context.js'

/** The system and the user, as far as they decide where data is kept. */
export interface DataHome {
  readonly platform: NodeJS.Platform
  readonly env: CliContext['env']
  /** Finds the home directory of the user, where no variable says where data is kept. */
  home(): string
}

/** Folder in which programs of a user keep their data; variables without an absolute path are ignored, as XDG requires. */
export function dataFolder({ platform, env, home }: DataHome): string {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix
  const chosen = (name: string) => {
    const path = env[name]
    return path !== undefined && isAbsolute(path) ? path : undefined
  }
  if (platform === 'win32') return join(chosen('LOCALAPPDATA') ?? join(home(), 'AppData', 'Local'), 'didledger')
  if (platform === 'darwin') return join(home(), 'Library', 'Application Support', 'didledger')
  return join(chosen('XDG_DATA_HOME') ?? join(home(), '.local', 'share'), 'didledger')
}

/** The data directory of a chain without --data-dir. */
export function defaultDataDir(context: Pick<CliContext, 'env'>, spec: Spec): string {
  return chainDataDir(context, spec.name, genesisBlock(spec).hash)
}

/** `<folder>/<name>-<first 8 hex digits of the genesis block's hash>`. */
export function chainDataDir({ env }: Pick<CliContext, 'env'>, name: string, genesis: string): string {
  const { platform } = process
  const { join } = platform === 'win32' ? win32 : posix
  return join(dataFolder({ platform, env, home: () => homeOf(env) }), `${name}-${genesis.slice(0, 8)}`)
}

/**
 * The home directory: the variable, else the entry of the user. Never a relative path, which would be another directory for each place
 * that a command is started in; without one a {@link UserError}.
 */
export function homeOf(env: CliContext['env'], ofUser: () => string = () => userInfo().homedir): string {
  const variable = process.platform === 'win32' ? 'USERPROFILE' : 'HOME'
  const chosen = env[variable]
  if (chosen !== undefined && isAbsolute(chosen)) return chosen
  try {
    const home = ofUser()
    if (isAbsolute(home)) return home
  } catch {
    // Containers run as users that have no entry.
  }
  const state = chosen === undefined ? 'is not set' : `is ${chosen}, which is no absolute path`
  throw new UserError(`${variable} ${state}, and this user has no home directory; set it, or use --data-dir DIR`)
}
