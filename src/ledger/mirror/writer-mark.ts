import { fromUtf8, toHex, utf8 } from '../../base/primitives/bytes.js'
import type { Random } from '../../base/runtime/env.js'
import { StorageError } from '../storage/failure.js'
import { ownFolder } from './file-headers.js'
import type { MirrorStore } from './mirror-store.js'

const markName = `${ownFolder}writer`
/** @limit bytes: the mark of the process that writes a mirror */
const longestMark = 256

/**
 * The mark of the process that writes a mirror, in a file of it. An object store has no locks: of two writers, each of which deletes what
 * only it needs no longer, the one that began first ends its step and takes no other. One that was killed has nothing to release.
 */
export class WriterMark {
  readonly #store: MirrorStore
  readonly #id: string

  private constructor(store: MirrorStore, id: string) {
    this.#store = store
    this.#id = id
  }

  /** Takes a mirror over. */
  static async set(store: MirrorStore, random: Random): Promise<WriterMark> {
    const id = toHex(random.bytes(16))
    await store.replace({ name: markName, bytes: fromUtf8(id) })
    return new WriterMark(store, id)
  }

  /** Throws a StorageError once another process has taken the mirror over, or removed its files. */
  async require(): Promise<void> {
    const bytes = await this.#store.get(markName, longestMark)
    if (bytes === undefined) {
      throw new StorageError(
        `${markName} is gone: files of the mirror were removed; start again to write them`,
        'other',
      )
    }
    if (utf8(bytes) === this.#id) return
    throw new StorageError(
      'another process has begun to write this mirror, so that this one leaves it alone: let one of them write it, and start that one again',
      'in-use',
    )
  }
}
