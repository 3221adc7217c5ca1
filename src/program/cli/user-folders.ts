import { posix, win32 } from 'node:path'
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
