import { InvariantError } from '../errors/rule-error.js'
import { mapKey } from '../primitives/bytes.js'
import type { Changes, CommitInfo, Database, FrozenRows, NewestRows, Rows } from './database.js'

/** Changes in memory over the rows: reads see the rows as they will be after the changes. */
export class Overlay implements Rows {
  readonly #base: Database | NewestRows | FrozenRows | Overlay
  readonly #changes = new Map<string, { key: Buffer; value: Uint8Array | undefined }>()
  readonly #loaded = new Map<string, Uint8Array | undefined>()

  /** Over a database, over its newest rows or those of one moment, or over another overlay into which these changes may be merged. */
  constructor(base: Database | NewestRows | FrozenRows | Overlay) {
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

  put(key: Buffer, value: Uint8Array): void {
    this.#changes.set(mapKey(key), { key, value })
  }

  del(key: Buffer): void {
    this.#changes.set(mapKey(key), { key, value: undefined })
  }

  get changes(): Changes {
    return this.#changes
  }

  /** Adds its changes to the overlay below. */
  mergeInto(below: Overlay): void {
    for (const [id, change] of this.#changes) below.#changes.set(id, change)
  }

  commit(info: CommitInfo, options: { sync: boolean }): Promise<void> {
    if (!('commit' in this.#base) || this.#base instanceof Overlay) {
      throw new InvariantError('only what lies over the database can be written')
    }
    return this.#base.commit(this.#changes, info, options)
  }
}
