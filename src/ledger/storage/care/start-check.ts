import { setImmediate as giveWay } from 'node:timers/promises'
import { damaged, fileFailure } from '../failure.js'
import { damagedTables, type FileDamage, levelFiles } from './level/level-files.js'
import { isInUse } from './level/lock.js'

/**
 * Checks the files of a database before LevelDB reads them: LevelDB trusts their contents, and aborts the process on some damage.
 * It does not check their checksums, so every wrong one is found here.
 */

/** @tuning bytes: table data that a start checks after a run that stopped */
const dataAfterStop = 32 * 1024 * 1024
/** @tuning bytes: table data that a start checks after one run that ended without stopping; after two in a row, all */
const dataAfterKill = 512 * 1024 * 1024

/** Maximum damaged files in a message. */
const namedFiles = 3

/** Bytes of table data to check after so many runs that ended without stopping. */
export function bytesToCheck(unfinishedRuns: number): number {
  return [dataAfterStop, dataAfterKill][unfinishedRuns] ?? Infinity
}

/**
 * Throws a StorageError that names damaged files. Checks all files that name others, the indexes of every table, and `dataBytes`
 * of their data, newest first. `progress` takes the tables that are done, and their number.
 */
export async function checkFiles(
  directory: string,
  dataBytes: number,
  progress: (done: number, total: number) => void = () => {},
): Promise<void> {
  const damages = await findDamages(directory, dataBytes, progress)
  if (damages.length === 0) return
  // A process that uses the files changes them at the same time; opening will report it.
  if (await isInUse(directory)) return
  // That process may have ended in between.
  const again = await findDamages(directory, dataBytes, progress)
  if (again.length > 0) throw damaged(`${directory}: ${damageText(again)}`)
}

/** The first few damages as text. */
export function damageText(damages: readonly FileDamage[]): string {
  const named = damages.slice(0, namedFiles).map(({ file, what }) => `${file} ${what}`)
  return [...named, ...(damages.length > namedFiles ? ['more'] : [])].join(', ')
}

async function findDamages(
  directory: string,
  dataBytes: number,
  progress: (done: number, total: number) => void,
): Promise<FileDamage[]> {
  try {
    const files = levelFiles(directory)
    const damages = [...files.damages]
    let done = 0
    for (const damage of damagedTables(directory, files, dataBytes)) {
      if (damage !== undefined) damages.push(damage)
      if (damages.length > namedFiles) break
      progress(++done, files.tables.length)
      await giveWay()
    }
    return damages
  } catch (error) {
    // Only another process removes files at this point.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [{ file: directory, what: 'changes' }]
    throw fileFailure(error, `the database in ${directory} cannot be read`)
  }
}
