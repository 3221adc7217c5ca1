import { createReadStream } from 'node:fs'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Spec } from '../../base/primitives/spec.js'
import { requireBlocksOf } from '../../ledger/chain/block-file.js'
import { onFile } from '../../node/on-file.js'
import { requireJoinable } from '../../node/taken-state.js'
import { isReadOnce, requireStateOf, specOfBlocks, specOfState } from './directory-spec.js'

/** A file that can bring a chain into a data directory without one. */
export interface ChainSource {
  /** The spec of the shipped chain that it is of; else a {@link UserError}. */
  spec(): Promise<Spec>
  /** Throws a {@link UserError} where its first bytes show that it brings nothing of a chain; a pipe is not looked at. */
  require(spec: Spec): Promise<void>
}

/** Blocks of `chain export`. */
export function blocksIn(file: string): ChainSource {
  return {
    spec: () => onFile(file, () => specOfBlocks(file)),
    require: (spec) => onFile(file, () => requireBlocks(file, spec)),
  }
}

/** Throws a {@link UserError} for a file that begins as no blocks of a chain; one that can be read only once is not looked at. */
async function requireBlocks(file: string, spec: Spec): Promise<void> {
  if (!isReadOnce(file)) await requireBlocksOf(createReadStream(file), genesisBlock(spec).header.hash)
}

/** A state of `chain state write`. */
export function stateIn(file: string): ChainSource {
  return {
    spec: () => onFile(file, () => specOfState(file)),
    require: async (spec) => {
      requireJoinable(spec)
      await onFile(file, () => requireStateOf(file, spec))
    },
  }
}
