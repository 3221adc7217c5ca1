import type { Database } from './database.js'
import { present } from './did-rows.js'
import { migrateHistories } from './migrate-histories.js'
import { migrateIndex, type MigrationProgress } from './migrate-index.js'
import { keys } from './schema.js'

export type { MigrationProgress } from './migrate-index.js'

/** Changes a database of an older layout into one of this one, a layout at a time. */
export async function migrateLayout(
  database: Database,
  progress: (progress: MigrationProgress) => void,
): Promise<void> {
  if (layoutOf(database) === 2) await migrateIndex(database, progress)
  await migrateHistories(database, progress)
}

/** The layout of a database that is not empty. */
export function layoutOf(database: Database): number {
  return present(database.get(keys.meta('version'))?.[0], 'the version of the layout')
}
