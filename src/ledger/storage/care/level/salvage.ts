import { copyFile, link, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as giveWay } from 'node:timers/promises'
import {
  type FileDamage,
  levelFiles,
  readIfThere,
  unreadableRecords,
  wholeOf,
  withTable,
  wordsOf,
} from './level-files.js'
import { readLog, writeLog } from './log-records.js'
import { checkTable, mendTable } from './table-file.js'

/** Result of a salvage. */
export interface Salvage {
  /** The unreadable parts of the files. */
  readonly damages: readonly FileDamage[]
  /** Whether LevelDB must rebuild its index of files. */
  readonly repair: boolean
}

/**
 * Makes a directory with everything readable of a damaged database: whole files by hard links, of damaged tables the whole
 * blocks, of damaged logs the whole records. LevelDB reads the result without aborting the process. The database itself stays
 * unchanged. Throws refusals of the system. `progress` takes the tables that are done, and their number.
 */
export async function salvage(
  from: string,
  into: string,
  progress: (done: number, total: number) => void = () => {},
): Promise<Salvage> {
  await rm(into, { recursive: true, force: true })
  await mkdir(into, { recursive: true })
  const files = levelFiles(from)
  const damages = [...files.damages]
  // A MANIFEST that has lost its last edits names tables that are gone, and none of those that replaced them.
  const listed = files.damages.some(({ file }) => /\.ldb$/.test(file)) ? undefined : files.manifest?.tables
  let repair = listed === undefined
  for (const [done, name] of files.tables.entries()) {
    progress(done, files.tables.length)
    const size = listed?.get(Number.parseInt(name, 10))
    if (listed !== undefined && size === undefined) continue
    const mended = withTable(join(from, name), (file) => {
      const bytes = wholeOf(file)
      const state = checkTable(bytes, { data: true })
      const resized = size !== undefined && file.size !== size
      return state.damaged || resized ? { state, bytes: mendTable(bytes, state) } : undefined
    })
    if (mended === undefined) {
      await linkOrCopy(join(from, name), join(into, name))
    } else {
      damages.push({ file: name, what: wordsOf(mended.state) })
      repair = true
      if (mended.state.readable.length > 0) await writeFile(join(into, name), mended.bytes)
    }
    await giveWay()
  }
  for (const name of files.logs) {
    const { records, damaged } = readLog(readIfThere(join(from, name)) ?? new Uint8Array(0))
    const named = damages.some(({ file }) => file === name)
    if (damaged && !named) damages.push({ file: name, what: unreadableRecords })
    // LevelDB's repair takes records without checking their checksums, so a torn last one must be removed.
    await writeFile(join(into, name), writeLog(records))
  }
  if (!repair) {
    const current = readIfThere(join(from, 'CURRENT')) as Buffer
    const manifest = current.toString('latin1').trim()
    await linkOrCopy(join(from, manifest), join(into, manifest))
    await writeFile(join(into, 'CURRENT'), current)
  }
  const empty = (await readdir(into)).length === 0
  return { damages, repair: repair && !empty }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  // Not every file system has hard links.
  await link(from, to).catch(() => copyFile(from, to))
}
