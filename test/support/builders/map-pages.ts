import { mapKey } from '../../../src/base/primitives/bytes.js'
import type { RowReader } from '../../../src/ledger/storage/rows/row-reader.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import type { Pages } from '../../../src/ledger/storage/rows/map/change-map.js'
import { MapPage } from '../../../src/ledger/storage/rows/map/map-page.js'

/** Pages of a map in memory, as the bytes of their rows. */
export interface MemoryPages extends Pages {
  /** By the key of the row, as text. */
  readonly rows: ReadonlyMap<string, Uint8Array>
}

/** `below`: pages that are there already, and stay as they are. */
export function memoryPages(below?: RowReader): MemoryPages {
  const rows = new Map<string, Uint8Array>()
  return {
    rows,
    get: (place) => {
      const key = tables.mapPage.key(place)
      const row = rows.get(mapKey(key)) ?? below?.get(key)
      return row && new MapPage(row)
    },
    put: (place, page) => {
      const id = mapKey(tables.mapPage.key(place))
      if (page === undefined) rows.delete(id)
      else rows.set(id, page.row)
    },
  }
}
