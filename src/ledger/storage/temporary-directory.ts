import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'
import { isOwnerGone, ownerText } from '../../base/runtime/process-owner.js'
import { fileFailure } from './failure.js'

/** Temporary directories of this process that are still there. */
const held = new Set<string>()
const prefix = 'didledger-'
/** File in each of them that names the process which made it. */
export const ownerFile = 'owner.json'
/**
 * Seconds later a start is over, which reading a large directory would delay.
 * @tuning ms: from the making of a temporary directory until those are removed that others have left
 */
const sweepAfter = 1000
/** Attempts to remove a directory into which LevelDB or a killed process was just writing. */
const clearRetries = 10

/**
 * A new directory that ends with this process, also where it is ended at once; after a kill the next one sweeps it. A system
 * that has no place for it is a {@link UserError}.
 */
export function makeTemporaryDirectory(): string {
  if (held.size === 0) process.on('exit', clearHeld)
  try {
    // In one turn: no signal comes between the directory and its removal at the end.
    const path = mkdtempSync(join(tmpdir(), prefix))
    held.add(path)
    writeFileSync(join(path, ownerFile), ownerText())
    setTimeout(() => void sweep().catch(() => {}), sweepAfter).unref()
    return path
  } catch (error) {
    const doing = `no temporary directory can be made in ${tmpdir()}`
    const failure = fileFailure(error, doing)
    const reason = failure instanceof UserError ? failure.message : `${doing}: ${(error as Error).message}`
    throw new UserError(`${reason}; set TMPDIR to a directory that can be written, or give --data-dir`)
  }
}

/** Removes a directory of {@link makeTemporaryDirectory} and what is in it. */
export async function removeTemporaryDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: clearRetries })
  release(path)
}

/** Lets a directory of {@link makeTemporaryDirectory} outlive this process: it is no longer temporary, and no start sweeps it. */
export async function keepTemporaryDirectory(path: string): Promise<void> {
  release(path)
  await rm(join(path, ownerFile), { force: true })
}

function release(path: string): void {
  held.delete(path)
  if (held.size === 0) process.off('exit', clearHeld)
}

/** Milliseconds between two attempts to remove what other threads of a process that ends are still writing. */
const clearPause = 20

/**
 * Removes the directories when the process ends. Threads that open LevelDB or write files go on meanwhile: what they make fails the
 * removal of a directory, or makes it again with all above it. So it is done until nothing is left, and once more.
 */
function clearHeld(): void {
  let absent = 0
  for (let attempt = 0; attempt < clearRetries && absent < 2; attempt++) {
    if (attempt > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, clearPause)
    absent = [...held].filter(isThere).length === 0 ? absent + 1 : 0
    for (const path of held) tryToRemove(path)
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function tryToRemove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // Tried again.
  }
}

/** Removes what processes left behind that were killed. */
async function sweep(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix))
  const left = names.map((name) => join(tmpdir(), name)).filter((path) => !held.has(path) && isAbandoned(path))
  await Promise.all(left.map((path) => rm(path, { recursive: true, force: true })))
}

/** Whether a directory is one of this user, made by a process of this system that is no more. */
export function isAbandoned(path: string): boolean {
  try {
    const directory = lstatSync(path)
    // In a shared directory others may have put links, or directories of their own, under such names.
    if (!directory.isDirectory() || directory.uid !== process.getuid?.()) return false
    return isOwnerGone(readFileSync(join(path, ownerFile), 'utf8'))
  } catch {
    return false
  }
}
