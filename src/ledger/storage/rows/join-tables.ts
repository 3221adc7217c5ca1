import { fragment } from './did-tables.js'
import { programHash, table, u16, u32 } from './layout.js'

/** Rows that are there only while the rows of a state are made: they put what comes in the order of the map into that of the chain. */

export const joinTables = {
  declaring: table(0x27, [programHash('program hash of the holder'), u32('height'), u16('index')], fragment, 'none'),
}
