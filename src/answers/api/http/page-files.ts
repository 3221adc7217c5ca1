import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { packageFile } from '../../../base/runtime/package-files.js'
import { coders, leastCompressed } from './content-coding.js'
import { etagOf } from './etag.js'

/** Directory of the built pages. */
export const builtPages = packageFile('dist/pages/')

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** One file, ready to be sent. */
export interface PageFile {
  readonly contentType: string
  /** Quoted, as in the header; a weak one where the file has several encodings. */
  readonly etag: string
  readonly bytes: Buffer
  /** Compressed, by the name of the coding; none of a short file. */
  readonly coded: ReadonlyMap<string, Buffer>
  /** Whether its name has a hash of its content. */
  readonly hashed: boolean
}

/** The files of the pages, read into memory at the first request. */
export class PageFiles {
  readonly #folder: URL
  #files: ReadonlyMap<string, PageFile> | undefined

  /** `folder` ends in a slash; one that does not exist has no files. */
  constructor(folder: URL = builtPages) {
    this.#folder = folder
  }

  /** The file at a path such as `/`, `/favicon.svg` or `/assets/main-1a2b.js`. */
  get(path: string): PageFile | undefined {
    this.#files ??= this.#read()
    return this.#files.get(path)
  }

  #read(): Map<string, PageFile> {
    if (!existsSync(this.#folder)) return new Map()
    const names = readdirSync(this.#folder, { recursive: true, encoding: 'utf8' })
    const files = new Map<string, PageFile>()
    for (const name of names) {
      const contentType = types[extname(name)]
      if (contentType === undefined) continue
      const bytes = readFileSync(new URL(name, this.#folder))
      const path = `/${name.replaceAll('\\', '/')}`
      const worth = bytes.length < leastCompressed ? [] : [...coders]
      const coded = new Map(worth.map(([coding, coder]) => [coding, coder.compressSync(bytes)]))
      const etag = coded.size === 0 ? etagOf(bytes) : `W/${etagOf(bytes)}`
      const file = { contentType, etag, bytes, coded, hashed: path.startsWith('/assets/') }
      files.set(path === '/index.html' ? '/' : path, file)
    }
    return files
  }
}
