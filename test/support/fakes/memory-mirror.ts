import type { Fetch } from '../../../src/clients/light/ask-server.js'
import type { MirrorFile, MirrorStore } from '../../../src/ledger/mirror/mirror-store.js'

/** The files of a mirror in memory. `before` is called before each file is written, replaced or deleted; it may throw. */
export class MemoryMirror implements MirrorStore {
  readonly files = new Map<string, Uint8Array>()
  before: (name: string) => void = () => {}

  async has(name: string): Promise<boolean> {
    return this.files.has(name)
  }

  async get(name: string, most: number): Promise<Uint8Array | undefined> {
    const bytes = this.files.get(name)
    if (bytes !== undefined && bytes.length > most) throw new RangeError(`${name} has ${bytes.length} bytes`)
    return bytes
  }

  async putAll(files: AsyncIterable<MirrorFile> | Iterable<MirrorFile>): Promise<void> {
    for await (const file of files) await this.replace(file)
  }

  async replace({ name, bytes }: MirrorFile): Promise<void> {
    this.before(name)
    this.files.set(name, bytes)
  }

  async deleteAll(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.before(name)
      this.files.delete(name)
    }
  }

  async *names(folder: string): AsyncGenerator<readonly string[]> {
    yield [...this.files.keys()].filter((name) => name.startsWith(`${folder}/`))
  }

  async close(): Promise<void> {}

  /** Serves the files as a web server does. */
  fetch(base = 'http://mirror/'): Fetch {
    return async (url) => {
      const bytes = this.files.get(url.slice(base.length))
      return bytes === undefined ? new Response(null, { status: 404 }) : new Response(Uint8Array.from(bytes))
    }
  }
}
