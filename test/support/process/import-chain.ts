import { writeFileSync } from 'node:fs'
import { exportBlocks } from '../../../src/ledger/chain/block-file.js'
import type { TestChain } from '../builders/chain.js'
import { type Directories, runJson } from './spawn.js'

/** Files of a chain, by which commands find it. */
export interface ChainPlace {
  /** File of its spec. */
  readonly genesis: string
  readonly dataDir: string
}

/** Writes the spec of a chain, has `chain import` bring its blocks into a data directory, and closes it. */
export async function importChain(source: TestChain, directories: Directories, place: ChainPlace): Promise<void> {
  const pieces: Uint8Array[] = []
  for await (const piece of exportBlocks(source.chain)) pieces.push(piece)
  const blocks = directories.fresh('blocks')
  writeFileSync(blocks, Buffer.concat(pieces))
  writeFileSync(place.genesis, source.spec.text)
  await source.close()
  await runJson('chain', 'import', blocks, '--data-dir', place.dataDir, '--genesis', place.genesis)
}
