import { Type } from '@sinclair/typebox'
import { onOrOff, optionsFor, wholeNumber } from '../../base/runtime/option.js'
import { cacheSize } from './database.js'
import { leastKept, leastKeptDocuments } from './rows/prune-rows.js'

/** Settings made by the options of the database. */
export interface StorageTarget {
  readonly dataDir: string
  /** Bytes that the database keeps of its tables. */
  readonly cacheBytes: number
  /** Last blocks that keep their transactions. */
  readonly keepBlocks: number
  /** Last blocks whose operations leave the documents that they superseded in place. */
  readonly keepDocuments: number
  /** The state that a directory without a chain begins with: its file, or `peers`. */
  readonly stateFrom: string
  /** Whether the node keeps the state that blocks commit to in a file for its peers. */
  readonly keepState: boolean
  /** Whether a node that began with a state verifies the blocks below it. */
  readonly backfill: boolean
  /** Whether every state of the map of DIDs is kept for proofs. */
  readonly archiveProofs: boolean
}

const { option, tuning, table } = optionsFor<StorageTarget>()

export const storageOptions = table('storage', {
  dataDir: option({
    flag: '--data-dir <directory>',
    schema: Type.String({ minLength: 1 }),
    description:
      "where to keep the chain (default: for start a directory of the chain in the user's data folder, else a temporary one)",
    expects: 'a directory',
  }),
  cacheSize: tuning('cacheBytes', {
    flag: '--database-cache <bytes>',
    ...wholeNumber(1 << 20, 2 ** 36, 'bytes'),
    default: cacheSize,
    description: 'what the database keeps in memory of its tables',
  }),
  prune: option('keepBlocks', {
    flag: '--prune <blocks>',
    ...wholeNumber(leastKept, 0xffffffff, 'blocks'),
    description:
      'keep the transactions of so many last blocks only, and of all others coins, headers and every operation on DIDs and ' +
      'credentials; what is given up comes back with the blocks of another node alone',
    commands: ['start'],
  }),
  pruneDocuments: option('keepDocuments', {
    flag: '--prune-documents <blocks>',
    ...wholeNumber(leastKeptDocuments, 0xffffffff, 'blocks'),
    description:
      'give up the documents of DIDs that were superseded more than so many blocks ago; their hashes stay, and of each DID the latest ' +
      'document; what is given up comes back with the blocks of another node alone',
    commands: ['start'],
  }),
  stateFrom: option({
    flag: '--state-from <peers|file>',
    schema: Type.String({ minLength: 1 }),
    description:
      'begin with the state that peers have, or a file of "chain state write", instead of at the first block; it is checked against the ' +
      'blocks in it, and not taken where the directory has a chain',
    expects: '"peers" or the name of a file',
    commands: ['start'],
  }),
  keepState: option({
    flag: '--no-keep-state',
    ...onOrOff(true),
    description:
      'keep no state in a file for peers that begin with one; a node that prunes or follows another keeps none',
    commands: ['start'],
  }),
  backfill: option({
    flag: '--no-backfill',
    ...onOrOff(true),
    description:
      'leave the blocks below a state that the node began with; one that prunes blocks or documents leaves them too',
    commands: ['start'],
  }),
  archiveProofs: option({
    flag: '--archive-proofs',
    ...onOrOff(false),
    description: 'from now on keep every state of all DIDs for proofs, not only those of the last 288 blocks',
    commands: ['start'],
  }),
})
