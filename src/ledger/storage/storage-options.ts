import { Type } from '@sinclair/typebox'
import { optionsFor, wholeNumber } from '../../base/runtime/option.js'
import { cacheSize } from './database.js'
import { leastKept } from './rows/prune-rows.js'

/** Settings made by the options of the database. */
export interface StorageTarget {
  readonly dataDir: string
  /** Bytes that the database keeps of its tables. */
  readonly cacheBytes: number
  /** Last blocks that keep their transactions. */
  readonly keepBlocks: number
  /** Whether every state of the map of DIDs is kept for proofs. */
  readonly archiveProofs: boolean
}

const option = optionsFor<'storage', StorageTarget>()

export const storageOptions = {
  dataDir: option({
    key: 'storage.dataDir',
    flag: '--data-dir <directory>',
    schema: Type.String({ minLength: 1 }),
    description:
      "where to keep the chain (default: for start a directory of the chain in the user's data folder, else a temporary one)",
    expects: 'a directory',
    sets: 'dataDir',
  }),
  cacheSize: option({
    key: 'storage.cacheSize',
    flag: '--database-cache <bytes>',
    ...wholeNumber(1 << 20, 2 ** 36, 'a number of bytes'),
    default: cacheSize,
    description: 'what the database keeps in memory of its tables',
    unit: 'bytes',
    tuning: true,
    sets: 'cacheBytes',
  }),
  prune: option({
    key: 'storage.prune',
    flag: '--prune <blocks>',
    ...wholeNumber(leastKept, 0xffffffff, 'a number of blocks'),
    description:
      'keep the transactions of so many last blocks only, and of all others coins, headers and every operation on DIDs and ' +
      'credentials; what is given up comes back with the blocks of another node alone',
    commands: ['start'],
    unit: 'blocks',
    sets: 'keepBlocks',
  }),
  archiveProofs: option({
    key: 'storage.archiveProofs',
    flag: '--archive-proofs',
    schema: Type.Boolean(),
    default: false,
    description: 'from now on keep every state of all DIDs for proofs, not only those of the last 288 blocks',
    expects: 'true or false',
    commands: ['start'],
    sets: 'archiveProofs',
  }),
}
