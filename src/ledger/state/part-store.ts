import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { equalBytes, toHex } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'

/** Parts of states in files, by their hashes: what was fetched before a stop need not be fetched again. */
export class PartStore {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Opens a directory, which is made if absent. */
  static async open(directory: string): Promise<PartStore> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return new PartStore(directory)
  }

  /** The part with a hash; undefined where it is not there, or damaged. */
  async get(hash: Hash): Promise<Uint8Array | undefined> {
    const bytes = await readFile(this.#path(hash)).catch(() => undefined)
    return bytes !== undefined && equalBytes(hashOf(bytes), hash) ? bytes : undefined
  }

  /** Keeps a part of which the caller knows that it has this hash. */
  async put(hash: Hash, bytes: Uint8Array): Promise<void> {
    const path = this.#path(hash)
    await writeFile(`${path}.new`, bytes, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }

  /** Removes a part. */
  async drop(hash: Hash): Promise<void> {
    await rm(this.#path(hash), { force: true })
  }

  /** Removes all of it. */
  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true })
  }

  #path(hash: Hash): string {
    return join(this.#directory, toHex(hash))
  }
}

/** SHA-256 of the bytes of a part, as its list has it. */
export function hashOf(bytes: Uint8Array): Hash {
  return createHash('sha256').update(bytes).digest()
}
