import { spawnSync } from 'node:child_process'
import { accessSync, chmodSync, constants, mkdtempSync, rmdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { program } from './spawn.js'

const withoutCapabilities = ['setpriv', '--bounding-set=-all', '--inh-caps=-all']

/**
 * The words before a command that make the modes of files hold for it; none where they hold already. The user stays the one of the
 * tests, who can enter the checkout wherever it lies; where root enters the folder of another user, it is that user.
 */
export function unprivileged(): readonly string[] {
  if (!readsAll()) return []
  const { uid, gid } = statSync(program)
  const ways = [withoutCapabilities, [...withoutCapabilities, `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']]
  const way = ways.find(([command, ...words]) => {
    return spawnSync(command as string, [...words, process.execPath, program, '--version']).status === 0
  })
  if (way === undefined) throw new Error(`no user that the modes of files hold for can run ${program}`)
  return way
}

/** Whether this process reads folders that their modes close to all: root does, unless a container took that right away. */
function readsAll(): boolean {
  const closed = mkdtempSync(join(tmpdir(), 'didledger-closed-'))
  try {
    chmodSync(closed, 0)
    accessSync(closed, constants.R_OK)
    return true
  } catch {
    return false
  } finally {
    rmdirSync(closed)
  }
}
