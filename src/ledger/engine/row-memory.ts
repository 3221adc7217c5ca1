import { mapKey } from '../../base/primitives/bytes.js'
import { ByteCache } from '../../base/runtime/byte-cache.js'
import type { ShardState } from './row-engine.js'

/** A row as the engine has it; without a value: there is none. */
interface Remembered {
  readonly value: Buffer | undefined
}

/** Rows of one state, as far as they were read; those used least recently are given up. */
export class RowMemory {
  readonly state: ShardState
  readonly #rows: ByteCache<Remembered>

  constructor(state: ShardState, bytes: number) {
    this.state = state
    this.#rows = new ByteCache(bytes)
  }

  get bytes(): number {
    return this.#rows.bytes
  }

  /** A row as it is known; undefined: it was not read, or given up. */
  find(key: Buffer): Remembered | undefined {
    return this.#rows.get(mapKey(key))
  }

  /** Keeps the value of a row, undefined for a key without one; returns it. */
  keep(key: Buffer, value: Buffer | undefined): Buffer | undefined {
    this.#rows.set(mapKey(key), { value }, value?.length ?? 0)
    return value
  }
}
