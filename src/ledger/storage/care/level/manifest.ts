import { LevelReader } from './varint.js'

/** Contents of LevelDB's MANIFEST: the files that make up the database. */
export interface Manifest {
  /** Number of the oldest log that is still needed. */
  readonly log: number
  /** Size in bytes of each table in use, by its number. */
  readonly tables: ReadonlyMap<number, number>
}

const tag = {
  comparator: 1,
  logNumber: 2,
  nextFile: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedFile: 6,
  newFile: 7,
  previousLog: 9,
} as const

/** Numbers without which LevelDB does not open: a MANIFEST that is cut behind its first edit lacks them. */
const demanded: readonly number[] = [tag.logNumber, tag.nextFile, tag.lastSequence]

/** Adds up the edits of a MANIFEST; throws a RangeError for one that does not decode, and where LevelDB finds it incomplete. */
export function readManifest(edits: readonly Uint8Array[]): Manifest {
  const seen = new Set<number>()
  let log = 0
  const tables = new Map<number, number>()
  for (const edit of edits) {
    const reader = new LevelReader(edit)
    const removed: number[] = []
    const added: [number, number][] = []
    while (!reader.done) {
      const entry = reader.varint()
      seen.add(entry)
      switch (entry) {
        case tag.comparator:
          reader.varbytes()
          break
        case tag.logNumber:
          log = reader.varint()
          break
        case tag.nextFile:
        case tag.lastSequence:
        case tag.previousLog:
          reader.varint()
          break
        case tag.compactPointer:
          reader.varint()
          reader.varbytes()
          break
        case tag.deletedFile:
          reader.varint()
          removed.push(reader.varint())
          break
        case tag.newFile: {
          reader.varint()
          added.push([reader.varint(), reader.varint()])
          reader.varbytes()
          reader.varbytes()
          break
        }
        default:
          throw new RangeError('an unknown entry')
      }
    }
    // An edit that moves a table to another level removes and adds it.
    for (const number of removed) tables.delete(number)
    for (const [number, size] of added) tables.set(number, size)
  }
  if (!demanded.every((entry) => seen.has(entry))) throw new RangeError('no whole list of files')
  return { log, tables }
}
