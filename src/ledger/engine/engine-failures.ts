import { RuleError } from '../../base/errors/rule-error.js'
import { StorageError } from '../storage/failure.js'
import { unseal } from '../storage/rows/sealed-row.js'
import type { EngineRow } from './row-engine.js'

/** A row that is not in memory: the work that asked for it runs again once it is there. */
export class RowMiss extends Error {
  readonly key: Buffer

  constructor(key: Buffer) {
    super(`row ${key.toString('hex')} is not in memory`)
    this.key = key
  }
}

/** The rows moved to another state while some of one state were read: the work runs again. */
export class RowsMoved extends Error {}

/** The value of a row of a shard; `row-damaged` where it is not as the node wrote it. */
export function checkedValue([key, sealed]: EngineRow, shard: number): Buffer {
  try {
    return unseal(key, sealed)
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    const row = key.toString('hex')
    throw new RuleError('row-damaged', `shard ${shard} has row ${row} not as the node wrote it; load the shard again`)
  }
}

/** The refusal for what an engine did not answer. */
export function shardDown(shard: number): RuleError {
  return new RuleError('shard-down', `shard ${shard} and its replicas do not answer; ask again later`)
}
