import { MemoryLevel } from 'memory-level'
import { mapKey } from '../../src/base/primitives/bytes.js'
import type { Store } from '../support/builders/chain.js'
import type { Chance } from '../support/builders/chance.js'

/**
 * The disk of one node: rows of its database and its sign state. It outlives the node, and what was not synced may be gone
 * after a crash.
 */

export interface Write {
  readonly what: 'rows' | 'signs' | 'file'
  readonly synced: boolean
}

/**
 * What becomes of a write other than that it succeeds. `crash-before` falls before it is synced: it may last or not. Of one that
 * fails nothing is left, or, where only its sync fails, all of it.
 */
export type Fault = 'crash-before' | 'crash-after' | 'failure' | 'sync-failure'

/** One life of a node, as its disk sees it. */
export interface Life {
  readonly alive: boolean
  /** Asked before each write. */
  fault(write: Write): Fault | undefined
  crash(): void
  /** Resolves when a write has taken its time, unless the node died meanwhile. */
  took(write: Write): Promise<void>
}

interface Operation {
  readonly type: 'put' | 'del'
  readonly key: Buffer
  readonly value?: Buffer
}
type Batch = readonly Operation[]

/** What never comes, for who was killed. One each: a promise of all would keep whatever ever waited for it. */
export const never = () => new Promise<never>(() => {})

/** What a level does inside; its typings leave it out. */
const writeInside: (operations: Batch, options: object) => Promise<void> = Reflect.get(MemoryLevel.prototype, '_batch')

export class Disk {
  /** Whether it only says that something is synced. */
  readonly #lies: boolean
  /** Rows that no crash takes. */
  readonly #rows = new Map<string, Operation>()
  #unsynced: Batch[] = []
  #writing: Batch | undefined
  #signs: Uint8Array | undefined
  /** A sign state on its way: its file may have its name, and until the directory is synced a crash may take that back. */
  #signing: Uint8Array | undefined
  #signed = false

  constructor(options: { lies: boolean } = { lies: false }) {
    this.#lies = options.lies
  }

  /** Writes rows that were there before any life. */
  fill(rows: Iterable<readonly [Buffer, Buffer]>): void {
    for (const [key, value] of rows) this.#rows.set(mapKey(key), { type: 'put', key, value })
  }

  /** The store that a life opens: it holds what the disk holds now. */
  async open(life: Life): Promise<Store> {
    this.#signing = undefined
    const level = new LevelOnDisk((batch, synced) => this.#write(life, batch, synced))
    await level.open()
    await writeInside.call(level, [...this.#rows.values()], {})
    for (const batch of this.#unsynced) await writeInside.call(level, batch, {})
    return level
  }

  /** The file that a life keeps its sign state in. */
  signStore(life: Life): { load(): Promise<Uint8Array | undefined>; save(bytes: Uint8Array): Promise<void> } {
    return {
      load: () => Promise.resolve(this.#signs?.slice()),
      save: (bytes) => {
        const state = bytes.slice()
        if (life.alive) this.#signing = state
        return perform(life, { what: 'signs', synced: true }, () => this.#sign(state))
      },
    }
  }

  /** What is known of the sign state from outside. */
  get signs(): 'none' | 'kept' | 'lost' {
    if (this.#signs !== undefined) return 'kept'
    return this.#signed ? 'lost' : 'none'
  }

  /** Whether there is a row that no crash takes, as far as the node was told. */
  keeps(key: Uint8Array): boolean {
    const id = mapKey(key)
    const believed = this.#lies ? this.#unsynced.flat() : []
    return this.#rows.has(id) || believed.some((operation) => mapKey(operation.key) === id)
  }

  /** Forgets the sign state, as a lost file does. */
  loseSigns(): void {
    this.#signs = undefined
  }

  /** Power goes: of what was not synced a beginning is left, however long, and of two sign states either. */
  losePower(chance: Chance): void {
    const uncertain = this.#writing === undefined ? this.#unsynced : [...this.#unsynced, this.#writing]
    this.#unsynced = uncertain.slice(0, chance.between(0, uncertain.length))
    if (this.#signing !== undefined && chance.happens(0.5)) this.#sign(this.#signing)
    this.settle()
  }

  /** The process is gone, and what it wrote is written. */
  settle(): void {
    this.#writing = undefined
    this.#unsynced.splice(0).forEach((batch) => this.#keep(batch))
  }

  async #write(life: Life, batch: Batch, synced: boolean): Promise<void> {
    this.#writing = batch
    await perform(life, { what: 'rows', synced }, () => {
      this.#writing = undefined
      this.#unsynced.push(batch)
      if (synced && !this.#lies) this.settle()
    })
  }

  #sign(state: Uint8Array): void {
    this.#signs = state
    this.#signing = undefined
    this.#signed = true
  }

  #keep(batch: Batch): void {
    for (const operation of batch) {
      if (operation.type === 'put') this.#rows.set(mapKey(operation.key), operation)
      else this.#rows.delete(mapKey(operation.key))
    }
  }
}

/** A level in memory whose batches pass through a disk first. Reads answer at once. */
class LevelOnDisk extends MemoryLevel<Buffer, Buffer> {
  readonly #write: (batch: Batch, synced: boolean) => Promise<void>

  constructor(write: (batch: Batch, synced: boolean) => Promise<void>) {
    super({ keyEncoding: 'buffer', valueEncoding: 'buffer', storeEncoding: 'buffer' })
    this.#write = write
  }

  async _batch(operations: Batch, options: { sync?: boolean }): Promise<void> {
    await this.#write(operations, options.sync === true)
    await writeInside.call(this, operations, options)
  }

  /** Rows of the journal are the only ones that go by range, long after the end of any simulation. */
  _clear(): Promise<void> {
    return Promise.reject(new Error('a simulated store clears no ranges'))
  }
}

/** Has a life write something, which `done` makes last, unless it ends before. */
export async function perform(life: Life, write: Write, done: () => void): Promise<void> {
  if (!life.alive) return never()
  const fault = life.fault(write)
  if (fault === 'failure') throw new Error('no space left on device')
  if (fault === 'crash-before') {
    life.crash()
    return never()
  }
  await life.took(write)
  done()
  if (fault === 'sync-failure') throw new Error('no space left on device, fsync')
  if (fault !== 'crash-after') return undefined
  life.crash()
  return never()
}
