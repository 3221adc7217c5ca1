import { headName } from '../../src/identity/proofs/mirror-head.js'
import type { MirrorFile, MirrorStore } from '../../src/ledger/mirror/mirror-store.js'

/** Calls of a store that became requests of an object store: a write a file, a deletion for each thousand. */
export interface StoreCalls {
  /** Files that never change, and their bytes. */
  files: number
  bytes: number
  /** Leaves among them, and their bytes. */
  leaves: number
  leafBytes: number
  /** Files that change: the head, the mirror's own notes; and their bytes. */
  replaced: number
  replacedBytes: number
  reads: number
  deleted: number
  /** Time at which the last head was written, by performance.now(). */
  headAt: number
  headBytes: number
}

/** A store that counts what is asked of another. */
export class CountingStore implements MirrorStore {
  readonly #store: MirrorStore
  #calls = noCalls()

  constructor(store: MirrorStore) {
    this.#store = store
  }

  /** The calls since they were taken last. */
  take(): StoreCalls {
    const calls = this.#calls
    this.#calls = noCalls()
    return calls
  }

  has(name: string): Promise<boolean> {
    this.#calls.reads++
    return this.#store.has(name)
  }

  get(name: string, most: number): Promise<Uint8Array | undefined> {
    this.#calls.reads++
    return this.#store.get(name, most)
  }

  putAll(files: AsyncIterable<MirrorFile> | Iterable<MirrorFile>): Promise<void> {
    return this.#store.putAll(this.#counted(files))
  }

  async replace(file: MirrorFile): Promise<void> {
    await this.#store.replace(file)
    this.#calls.replaced++
    this.#calls.replacedBytes += file.bytes.length
    if (file.name !== headName) return
    this.#calls.headAt = performance.now()
    this.#calls.headBytes = file.bytes.length
  }

  deleteAll(names: readonly string[]): Promise<void> {
    this.#calls.deleted += names.length
    return this.#store.deleteAll(names)
  }

  names(folder: string): AsyncIterable<readonly string[]> {
    return this.#store.names(folder)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async *#counted(files: AsyncIterable<MirrorFile> | Iterable<MirrorFile>): AsyncGenerator<MirrorFile, void, void> {
    for await (const file of files) {
      this.#calls.files++
      this.#calls.bytes += file.bytes.length
      if (file.name.startsWith('leaf/')) {
        this.#calls.leaves++
        this.#calls.leafBytes += file.bytes.length
      }
      yield file
    }
  }
}

function noCalls(): StoreCalls {
  return {
    files: 0,
    bytes: 0,
    leaves: 0,
    leafBytes: 0,
    replaced: 0,
    replacedBytes: 0,
    reads: 0,
    deleted: 0,
    headAt: NaN,
    headBytes: 0,
  }
}
