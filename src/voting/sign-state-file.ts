import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UserError } from '../errors/rule-error.js'

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
      throw new UserError(`cannot read ${this.path}, where the validator key notes what it signed: ${error.message}`)
    })
  }

  async save(bytes: Uint8Array): Promise<void> {
    const temporary = `${this.path}.new`
    const file = await open(temporary, 'w', 0o600)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, this.path)
    await syncDirectory(dirname(this.path))
  }
}

/** Makes a rename in a directory durable. */
async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory, and its renames need nothing more.
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
