import type { Fetch, Server } from './ask-server.js'
import type { MirrorServer } from './mirror-server.js'

/** A mirror whose code is loaded when it is first asked. */
export class LazyMirror implements Server {
  readonly url: string
  readonly #open: () => Promise<MirrorServer>
  #server: Promise<MirrorServer> | undefined

  constructor(url: string, fetch: Fetch, now: () => number) {
    this.url = url
    this.#open = async () => new (await import('./mirror-server.js')).MirrorServer(url, fetch, now)
  }

  async get(path: string): Promise<unknown> {
    return (await this.#loaded()).get(path)
  }

  async call(method: string, params: object): Promise<unknown> {
    return (await this.#loaded()).call(method, params)
  }

  async tell(): Promise<unknown> {
    return (await this.#loaded()).tell()
  }

  #loaded(): Promise<MirrorServer> {
    return (this.#server ??= this.#open())
  }
}
