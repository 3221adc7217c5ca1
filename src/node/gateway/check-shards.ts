import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { displayHash, equalBytes } from '../../base/primitives/bytes.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Spec } from '../../base/primitives/spec.js'
import { EngineDown } from '../../ledger/engine/engine-down.js'
import type { RowEngine } from '../../ledger/engine/row-engine.js'
import { schemaVersion } from '../../ledger/storage/rows/tables.js'

/** Throws unless the shards are whole, of the chain of a spec, of this layout, and named in their order. */
export async function requireOwnShards(engine: RowEngine, spec: Spec): Promise<void> {
  const { header } = genesisBlock(spec)
  for (let shard = 0; shard < engine.shards; shard++) {
    const state = await stateOf(engine, shard)
    const refuse = (what: string) => new UserError(`shard ${shard}: ${what}`)
    if (state === undefined) throw refuse('there are no rows in it; run: npx didledger ship load')
    if (!equalBytes(state.chain, header.hash)) {
      throw refuse(`it is of another chain, with genesis block ${displayHash(state.chain)}, and not ${header.id}`)
    }
    if (state.layout !== schemaVersion) {
      throw refuse(`its rows have layout ${state.layout}, and this program reads ${schemaVersion}: load it again`)
    }
    if (state.shards !== engine.shards || state.number !== shard) {
      throw refuse(`it is number ${state.number} of ${state.shards}, and named as ${shard} of ${engine.shards}`)
    }
  }
}

/** Throws what an engine did not answer at a start, in words for its user. */
export function refused(error: unknown): never {
  if (error instanceof EngineDown || error instanceof RuleError) throw new UserError(error.message)
  throw error
}

function stateOf(engine: RowEngine, shard: number) {
  return engine.state(shard).catch((error: unknown) => {
    if (!(error instanceof EngineDown)) throw error
    throw new UserError(`${error.message}; is its URL right, and does PostgreSQL run there?`)
  })
}
