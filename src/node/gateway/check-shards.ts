import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { displayHash, equalBytes } from '../../base/primitives/bytes.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Spec } from '../../base/primitives/spec.js'
import { downOrThrow, EngineDown } from '../../ledger/engine/engine-down.js'
import { isPlace, placed } from '../../ledger/engine/placement.js'
import type { RowEngine, ShardState } from '../../ledger/engine/row-engine.js'
import { schemaVersion } from '../../ledger/storage/rows/tables.js'

/** Throws unless the shards are whole, of the chain of a spec, of this layout, and named in their order. */
export async function requireOwnShards(engine: RowEngine, spec: Spec): Promise<void> {
  const { header } = genesisBlock(spec)
  const numbers = Array.from({ length: engine.shards }, (_, database) => database)
  const told = await Promise.all(numbers.map((database) => engine.state(database).catch(downOrThrow)))
  const shards = placed(told.map((state) => (state instanceof EngineDown ? undefined : state)))
  for (const [database, state] of told.entries()) {
    // Those behind a shard have nothing to say before it is divided.
    if (shards?.includes(state as ShardState) === false) continue
    const refuse = (what: string) => new UserError(`shard ${database}: ${what}`)
    if (state instanceof EngineDown) {
      throw new UserError(`${state.message}; is its URL right, and does PostgreSQL run there?`)
    }
    if (state === undefined) throw refuse('there are no rows in it; run: npx didledger ship load')
    if (!equalBytes(state.chain, header.hash)) {
      throw refuse(`it is of another chain, with genesis block ${displayHash(state.chain)}, and not ${header.id}`)
    }
    if (state.layout !== schemaVersion) {
      throw refuse(`its rows have layout ${state.layout}, and this program reads ${schemaVersion}: load it again`)
    }
    if (shards === undefined && !isPlace(state, { number: database, shards: engine.shards })) {
      throw refuse(`it is number ${state.number} of ${state.shards}, and named as ${database} of ${engine.shards}`)
    }
  }
}

/** Throws a failure of an engine at the start as a UserError, and any other error as it is. */
export function refused(error: unknown): never {
  if (error instanceof EngineDown || error instanceof RuleError) throw new UserError(error.message)
  throw error
}
