import { posix, win32 } from 'node:path'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Spec } from '../../base/primitives/spec.js'
import type { CliContext } from './cli-context.js'
import { homeOf } from '../../base/runtime/home-folder.js'
import { userFolder } from './user-folders.js'

/** The data directory of a chain without --data-dir. */
export function defaultDataDir(context: Pick<CliContext, 'env'>, spec: Spec): string {
  return chainDataDir(context, spec.name, genesisBlock(spec).hash)
}

/** `<folder>/<name>-<first 8 hex digits of the genesis block's hash>`. */
export function chainDataDir({ env }: Pick<CliContext, 'env'>, name: string, genesis: string): string {
  const { platform } = process
  const { join } = platform === 'win32' ? win32 : posix
  return join(userFolder('data', { platform, env, home: () => homeOf(env) }), `${name}-${genesis.slice(0, 8)}`)
}
