import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { equalBytes, toHex } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { type DiskFiles, diskFiles } from '../storage/disk-files.js'

/** Parts of states in files, by their hashes: what was fetched before a stop need not be fetched again. */
export class PartStore {
  readonly #directory: string
  readonly #files: DiskFiles
  #puts = 0

  private constructor(directory: string, files: DiskFiles) {
    this.#directory = directory
    this.#files = files
  }

  /** Opens a directory, which is made if absent. */
  static async open(directory: string, files: DiskFiles = diskFiles): Promise<PartStore> {
    await files.makeDirectory(directory)
    return new PartStore(directory, files)
  }

  /** The part with a hash; undefined where it is not there, or damaged. */
  async get(hash: Hash): Promise<Uint8Array | undefined> {
    const bytes = await this.#files.read(this.#path(hash)).catch(() => undefined)
    return bytes !== undefined && equalBytes(hashOf(bytes), hash) ? bytes : undefined
  }

  /** Keeps a part of which the caller knows that it has this hash. */
  async put(hash: Hash, bytes: Uint8Array): Promise<void> {
    const path = this.#path(hash)
    // Two peers may bring one part at the same time.
    const made = `${path}.${++this.#puts}.new`
    await this.#files.write(made, bytes)
    await this.#files.rename(made, path)
  }

  /** Removes a part. */
  async drop(hash: Hash): Promise<void> {
    await this.#files.remove(this.#path(hash))
  }

  #path(hash: Hash): string {
    return join(this.#directory, toHex(hash))
  }
}

/** SHA-256 of the bytes of a part, as its list has it. */
export function hashOf(bytes: Uint8Array): Hash {
  return createHash('sha256').update(bytes).digest()
}
