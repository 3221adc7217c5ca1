import { homedir } from 'node:os'
import { posix, win32 } from 'node:path'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Spec } from '../../base/primitives/spec.js'
import type { CliContext } from './cli-context.js'

/** The system and the user, as far as they decide where data is kept. */
export interface DataHome {
  readonly platform: NodeJS.Platform
  readonly env: CliContext['env']
  /** Home directory of the user. */
  readonly home: string
}

/** Folder in which programs of a user keep their data; variables without an absolute path are ignored, as XDG requires. */
export function dataFolder({ platform, env, home }: DataHome): string {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix
  const chosen = (name: string) => {
    const path = env[name]
    return path !== undefined && isAbsolute(path) ? path : undefined
  }
  if (platform === 'win32') return join(chosen('LOCALAPPDATA') ?? join(home, 'AppData', 'Local'), 'didledger')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'didledger')
  return join(chosen('XDG_DATA_HOME') ?? join(home, '.local', 'share'), 'didledger')
}

/** The data directory of a chain without --data-dir. */
export function defaultDataDir(context: Pick<CliContext, 'env'>, spec: Spec): string {
  return chainDataDir(context, spec.name, genesisBlock(spec).hash)
}

/** `<folder>/<name>-<first 8 hex digits of the genesis block's hash>`. */
export function chainDataDir({ env }: Pick<CliContext, 'env'>, name: string, genesis: string): string {
  const { platform } = process
  const home = (platform === 'win32' ? env['USERPROFILE'] : env['HOME']) ?? homedir()
  const { join } = platform === 'win32' ? win32 : posix
  return join(dataFolder({ platform, env, home }), `${name}-${genesis.slice(0, 8)}`)
}
