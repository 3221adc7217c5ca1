import { readFile } from 'node:fs/promises'
import { UserError } from '../base/errors/rule-error.js'
import { replaceFile } from '../ledger/storage/replace-file.js'

/** Storage of a sign state. */
export interface SignStore {
  /** Path of the file, if the store is one. */
  readonly path?: string
  /** The bytes saved last; undefined when there are none. */
  load(): Promise<Uint8Array | undefined>
  /** Replaces the saved bytes; resolves when a crash cannot lose them. One call at a time. */
  save(bytes: Uint8Array): Promise<void>
}

/** A store in one file of an existing directory: mode 0600, replaced atomically. */
export class SignStateFile implements SignStore {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  async load(): Promise<Uint8Array | undefined> {
    return readFile(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw new UserError(`cannot read ${this.path}, where a key notes what it signed: ${error.message}`)
    })
  }

  async save(bytes: Uint8Array): Promise<void> {
    await replaceFile(this.path, [bytes])
  }
}
