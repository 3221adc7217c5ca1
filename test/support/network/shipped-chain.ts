import { randomInt } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, inject } from 'vitest'
import { userData } from '../process/children.js'
import type { Directories } from '../process/spawn.js'

/**
 * Networks of tests that run at a time have other chains. The keys of localnet's validators are known, and a port that a node leaves is
 * given to the next node that asks, where peers of the first still look for it: two networks of one chain on this machine become one,
 * in which every validator signs twice.
 */

/** A file with the spec of localnet and another genesis block. */
export function chainLikeLocalnet(directories: Directories): string {
  const spec = JSON.parse(readFileSync(new URL('../../../genesis/localnet.json', import.meta.url), 'utf8')) as {
    time: number
  }
  const file = directories.fresh('localnet.json')
  writeFileSync(file, JSON.stringify({ ...spec, time: spec.time - randomInt(1, 1_000_000) }))
  return file
}

/** For tests that need localnet as it is shipped: each of those around it waits until no other such test runs. */
export function aloneOnLocalnet(): void {
  const lock = join(userData(inject('run')), 'localnet.lock')
  let held = false
  beforeEach(async () => {
    mkdirSync(join(lock, '..'), { recursive: true })
    while (!(held = taken(lock))) await sleep(100)
  })
  // A test whose wait was ended holds nothing: the lock is another's.
  afterEach(() => {
    if (held) rmSync(lock)
    held = false
  })
}

function taken(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
