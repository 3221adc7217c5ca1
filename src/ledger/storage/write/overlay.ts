import { type Coin, CoinChanges } from '../../consensus/ledger.js'
import { InvariantError } from '../../../base/errors/rule-error.js'
import { mapKey } from '../../../base/primitives/bytes.js'
import { entrySteps, type Steps } from '../../../base/primitives/steps.js'
import { outpointOf } from '../../../base/primitives/input.js'
import type { BatchRows } from './batch-rows.js'
import { CoinRows } from './coin-rows.js'
import { type Changes, changesOf, type CommitInfo, type RowMap, type RowsBelow } from './row-changes.js'
import { EncodedRows } from './encoded-rows.js'
import type { StagedRows } from '../rows/row-reader.js'
import { tables } from '../rows/tables.js'

/** Changes merged in one step. */
const changesAtOnce = 16

/**
 * Changes in memory over the rows. Reads see the rows as they will be after the changes, but for two kinds: coins are kept as such
 * and become rows with the batch, and `encoded` rows are not read before they are written.
 */
export class Overlay implements StagedRows {
  readonly coins = new CoinChanges()
  readonly encoded = new EncodedRows()
  #base: RowsBelow | Overlay
  readonly #changes = new Map<string, { key: Buffer; value: Uint8Array | undefined }>()
  readonly #loaded = new Map<string, Uint8Array | undefined>()
  readonly #loadedCoins = new Map<string, Coin>()

  /** Over a database, over its newest rows or those of one moment, or over another overlay into which these changes may be merged. */
  constructor(base: RowsBelow | Overlay) {
    this.#base = base
  }

  /** Loads rows in one call, so that {@link get} finds them without a call into LevelDB each. */
  async load(wanted: readonly Buffer[]): Promise<void> {
    const missing = wanted
      .map((key) => ({ key, id: mapKey(key) }))
      .filter(({ id }) => !this.#changes.has(id) && !this.#loaded.has(id))
    const rows = await this.#base.getMany(missing.map(({ key }) => key))
    missing.forEach(({ id }, i) => this.#loaded.set(id, rows[i]))
  }

  async getMany(wanted: Buffer[]): Promise<(Uint8Array | undefined)[]> {
    const changes = wanted.map((key) => this.#changes.get(mapKey(key)))
    const below = wanted.filter((_, i) => changes[i] === undefined)
    const rows = (await this.#base.getMany(below)).values()
    return changes.map((change) => (change === undefined ? rows.next().value : change.value))
  }

  get(key: Buffer): Uint8Array | undefined {
    const id = mapKey(key)
    const change = this.#changes.get(id)
    if (change !== undefined) return change.value
    return this.#loaded.has(id) ? this.#loaded.get(id) : this.#base.get(key)
  }

  /** Loads the rows of coins, by their `outpointKey`, in one call. */
  async loadCoins(wanted: readonly string[]): Promise<void> {
    const rows = await this.getMany(wanted.map((outpoint) => tables.coin.key(outpointOf(outpoint))))
    wanted.forEach((outpoint, i) => {
      const row = rows[i]
      if (row !== undefined) this.#loadedCoins.set(outpoint, tables.coin.decode(row))
    })
  }

  /** Returns a coin without its row: null if it was spent, undefined if unknown. */
  knownCoin(outpoint: string): Coin | null | undefined {
    const changed = this.coins.get(outpoint)
    if (changed !== undefined) return changed
    const loaded = this.#loadedCoins.get(outpoint)
    if (loaded !== undefined) return loaded
    const base = this.#base
    return base instanceof Overlay ? base.knownCoin(outpoint) : base.coins?.coin(outpoint)
  }

  put(key: Buffer, value: Uint8Array): void {
    this.#changes.set(mapKey(key), { key, value })
  }

  del(key: Buffer): void {
    this.#changes.set(mapKey(key), { key, value: undefined })
  }

  /** The changed rows by {@link mapKey} of their key, in the order of their first change; coins and `encoded` excepted. */
  get changes(): RowMap {
    return this.#changes
  }

  /** Adds its changes to the overlay below, on which `above`, which lies over this one, stands from then on; it must not be changed afterwards. */
  *mergeSteps(below: Overlay, above?: Overlay): Steps {
    below.encoded.append(this.encoded)
    yield* below.coins.addSteps(this.coins)
    yield* entrySteps(this.#changes, (change, id) => below.#changes.set(id, change), changesAtOnce)
    if (above !== undefined) above.#base = below
  }

  commit(info: CommitInfo, options: { sync: boolean }): Promise<void> {
    const base = this.#base
    if (base instanceof Overlay || base.commit === undefined) {
      throw new InvariantError('only what lies over the database can be written')
    }
    if (this.coins.size === 0) return base.commit(this.#batch(), info, options)
    return base.commit(
      CoinRows.of(this.coins, base).then((coins) => this.#batch(coins)),
      info,
      options,
    )
  }

  #batch(coins?: CoinRows): Changes {
    const parts: Changes[] = [this.encoded, ...(coins === undefined ? [] : [coins]), changesOf(this.#changes)]
    return { count: parts.reduce((sum, { count }) => sum + count, 0), steps: (rows) => partSteps(parts, rows) }
  }
}

function* partSteps(parts: readonly Changes[], rows: BatchRows): Steps {
  for (const part of parts) yield* part.steps(rows)
}
