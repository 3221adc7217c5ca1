import { setImmediate as giveWay } from 'node:timers/promises'
import { damaged, fileFailure } from './failure.js'
import { damagedTables, type FileDamage, levelFiles } from './level/level-files.js'
import { isInUse } from './level/lock.js'

/**
 * Looks at the files of a database before LevelDB reads them: it believes what it reads, and aborts the process over some of
 * it. No checksum in them is its business, so every one that is wrong is found here.
 */

/** Bytes of table data that a start looks at after a run that stopped. */
const dataAfterStop = 64 * 1024 * 1024
/** Bytes of table data that a start looks at after one run that ended without stopping; after two in a row, all. */
const dataAfterKill = 512 * 1024 * 1024

/** How many damaged files a message names. */
const namedFiles = 3

/** Bytes of table data to look at after so many runs that ended without stopping. */
export function bytesToCheck(unfinishedRuns: number): number {
  return [dataAfterStop, dataAfterKill][unfinishedRuns] ?? Infinity
}

/**
 * Throws a StorageError that names damaged files. Looks at all that says which files there are, at the indexes of every
 * table, and at `dataBytes` of their data, the latest first.
 */
export async function checkFiles(directory: string, dataBytes: number): Promise<void> {
  const damages = await findDamages(directory, dataBytes)
  if (damages.length === 0) return
  // A process that is using them changes them meanwhile; opening will name it.
  if (await isInUse(directory)) return
  // It may have ended in between.
  const again = await findDamages(directory, dataBytes)
  if (again.length > 0) throw damaged(`${directory}: ${damageText(again)}`)
}

/** The first few damages in words. */
export function damageText(damages: readonly FileDamage[]): string {
  const named = damages.slice(0, namedFiles).map(({ file, what }) => `${file} ${what}`)
  return [...named, ...(damages.length > namedFiles ? ['more'] : [])].join(', ')
}

async function findDamages(directory: string, dataBytes: number): Promise<FileDamage[]> {
  try {
    const files = levelFiles(directory)
    const damages = [...files.damages]
    for (const damage of damagedTables(directory, files, dataBytes)) {
      if (damage !== undefined) damages.push(damage)
      if (damages.length > namedFiles) break
      await giveWay()
    }
    return damages
  } catch (error) {
    // Only another process removes files meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [{ file: directory, what: 'changes' }]
    throw fileFailure(error, `the database in ${directory} cannot be read`)
  }
}
