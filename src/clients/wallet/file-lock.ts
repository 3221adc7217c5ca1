import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../base/errors/rule-error.js'
import { isOwnerGone, ownerText } from '../../base/runtime/process-owner.js'
import { errorCode, fileReason } from './files.js'

/** @tuning ms: wait for other commands that change the same file */
const patience = 30_000
/** Milliseconds between two attempts. */
const pause = 20

/**
 * Runs while no other process changes a file, if all take this lock: a file beside it, which names its process. That of a process which was
 * killed does not count.
 */
export async function withFileLock<T>(path: string, work: () => T, wait = patience): Promise<T> {
  const lock = `${path}.lock`
  for (const end = performance.now() + wait; !isTaken(lock); await sleep(pause)) {
    if (performance.now() < end) continue
    throw new UserError(`another command is changing ${path}; if there is none, remove ${lock}`)
  }
  try {
    return work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Takes a lock if it is free. */
function isTaken(lock: string): boolean {
  try {
    writeFileSync(lock, ownerText(), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw new UserError(`cannot write ${lock}: ${fileReason(error)}`)
    if (isLeft(lock)) rmSync(lock, { force: true })
    return false
  }
}

/** Whether the process that took a lock is no more. */
function isLeft(lock: string): boolean {
  try {
    return isOwnerGone(readFileSync(lock, 'utf8'))
  } catch {
    // Given back meanwhile.
    return false
  }
}
