import { userInfo } from 'node:os'
import { isAbsolute, posix, win32 } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'
import type { CliContext } from './cli-context.js'

/** The system and the user, as far as they decide where files are kept. */
export interface UserHome {
  readonly platform: NodeJS.Platform
  readonly env: CliContext['env']
  /** Finds the home directory of the user, where no variable says where data is kept. */
  home(): string
}

/** Folders of a user by the system, below the home directory, and the variables that name others. */
const folders = {
  data: { win32: [], darwin: ['Library', 'Application Support'], else: ['.local', 'share'], variable: 'XDG_DATA_HOME' },
  cache: { win32: ['cache'], darwin: ['Library', 'Caches'], else: ['.cache'], variable: 'XDG_CACHE_HOME' },
} as const

/** Folder in which this program keeps files of a user; variables without an absolute path are ignored, as XDG requires. */
export function userFolder(kind: keyof typeof folders, { platform, env, home }: UserHome): string {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix
  const chosen = (name: string) => {
    const path = env[name]
    return path !== undefined && isAbsolute(path) ? path : undefined
  }
  const { variable, ...places } = folders[kind]
  if (platform === 'win32') {
    return join(chosen('LOCALAPPDATA') ?? join(home(), 'AppData', 'Local'), 'didledger', ...places.win32)
  }
  if (platform === 'darwin') return join(home(), ...places.darwin, 'didledger')
  return join(chosen(variable) ?? join(home(), ...places.else), 'didledger')
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
