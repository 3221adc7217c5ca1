import { MemoryLevel } from 'memory-level'
import type { Store } from '../builders/chain.js'

interface Operation {
  readonly key: Uint8Array
  readonly value?: Uint8Array
}

type Write = (operations: readonly Operation[], options: object) => Promise<void>
/** Internal write of a level; its typings leave it out. */
const writeInside: Write = Reflect.get(MemoryLevel.prototype, '_batch')

/** A store in memory that counts its writes and stops after so many. Its rows stay for the next one who opens it. */
export class FaultyStore extends MemoryLevel<Buffer, Buffer> {
  writes = 0
  /** Writes that succeed; all later ones fail. */
  lasts = Infinity
  /** Bytes of keys and values of the largest batch so far. */
  largest = 0
  /** Called before and after each write. */
  look: (keys: readonly Uint8Array[]) => void = () => {}

  constructor() {
    super({ keyEncoding: 'buffer', valueEncoding: 'buffer', storeEncoding: 'buffer' })
  }

  get store(): Store {
    return this
  }

  async _batch(operations: readonly Operation[], options: object): Promise<void> {
    if (this.writes >= this.lasts) throw new Error('no space left on device')
    this.look(operations.map(({ key }) => key))
    await writeInside.call(this, operations, options)
    this.writes++
    const bytes = operations.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0)
    this.largest = Math.max(this.largest, bytes)
    this.look(operations.map(({ key }) => key))
  }
}
