import { concat, equalBytes, utf8 } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { MapKey } from '../../identity/proofs/map-tree.js'
import {
  cosignedName,
  headName,
  type MirrorHead,
  mirrorCosignedFormat,
  mirrorFormat,
  mostCosignedHeads,
} from '../../identity/proofs/mirror-head.js'
import { leafName, type MirrorLeaf, readLeafFile, valueOfLeaf } from '../../identity/proofs/mirror-leaf.js'
import { type MirrorPage, pageName, type PagePlace, readPageFile } from '../../identity/proofs/mirror-page.js'
import { eachChunk, type Fetch, requirePresent, timely } from './ask-server.js'
import { answerBounds } from './answer-bounds.js'
import { parse } from './json-scan.js'
import { LightError } from './light-error.js'

/** Files of a mirror, each held against its name: none is believed. */

/** @limit bytes: the head of a mirror; the coinbase in it may have 64 KiB */
const longestHead = 256 * 1024
/** @limit bytes: a page of a mirror: place, kinds, and a leaf in each slot */
const longestPage = 33 + 4 + 16 * 64
/** @tuning count: pages of a mirror that are remembered: the upper ones are on all ways */
const keptPages = 1024

/** @limit count: files that a light resolver reads of a mirror for one question */
const mostFiles = 512
/** @limit bytes: files that a light resolver reads of a mirror for one question: it keeps some of them until it has answered */
const mostBytes = 32 * 1024 * 1024
/** @limit ms: files that a light resolver reads of a mirror for one question, besides the last of them */
const filesTime = 60_000

/** Bound of the files that one question reads: a mirror could have a tree and a history of its own without end. */
export class FileBudget {
  readonly #end = performance.now() + filesTime
  #left = mostFiles
  #bytesLeft = mostBytes

  /** Throws `timeout` once there were too many files, or for too long. */
  take(url: string): void {
    if (this.#left-- <= 0 || performance.now() >= this.#end) throw beyond(url)
  }

  /** Throws `timeout` once the files have too many bytes. */
  read(bytes: number, url: string): void {
    this.#bytesLeft -= bytes
    if (this.#bytesLeft < 0) throw beyond(url)
  }
}

function beyond(url: string): LightError {
  const bounds = `${mostFiles} files, ${mostBytes} bytes, ${filesTime / 1000} s`
  return new LightError('timeout', `${url} has no answer within ${bounds}; ask another mirror, or a node`)
}

export class MirrorFiles {
  readonly url: string
  readonly #fetch: Fetch
  readonly #pages = new Map<string, Promise<MirrorPage>>()

  constructor(url: string, fetch: Fetch) {
    this.url = url
    this.#fetch = fetch
  }

  /** The head as it is now: the claim of the mirror. */
  async head(budget: FileBudget): Promise<MirrorHead> {
    return this.#readHead(headName, await this.json(headName, longestHead, budget))
  }

  /** Heads with cosignatures, newest first, which are claims too. */
  async cosigned(budget: FileBudget): Promise<MirrorHead[]> {
    const sent = (await this.json(cosignedName, mostCosignedHeads * longestHead, budget)) as {
      readonly format?: unknown
      readonly heads?: unknown
    } | null
    if (sent?.format !== mirrorCosignedFormat || !Array.isArray(sent.heads)) {
      throw this.wrong(cosignedName, `is none of the form ${mirrorCosignedFormat}`)
    }
    if (sent.heads.length > mostCosignedHeads)
      throw this.wrong(cosignedName, `has more than ${mostCosignedHeads} heads`)
    return sent.heads.map((one) => this.#readHead(cosignedName, one))
  }

  #readHead(name: string, sent: unknown): MirrorHead {
    const head = sent as Partial<MirrorHead> | null
    if (head?.format !== mirrorFormat) throw this.wrong(name, `is none of the form ${mirrorFormat}`)
    const texts = [head.chain, head.hash, head.mapRoot, head.didRoot]
    const counts = [head.height, head.changes, head.headers]
    const isWhole = texts.every((one) => /^[0-9a-f]{64}$/.test(String(one))) && counts.every(Number.isSafeInteger)
    if (!isWhole || typeof head.anchor !== 'object') throw this.wrong(name, 'lacks members')
    return head as MirrorHead
  }

  /** The page with a hash at a place. */
  page(hash: Hash, place: PagePlace, budget: FileBudget): Promise<MirrorPage> {
    const name = pageName(hash)
    const page = this.#pages.get(name) ?? this.#pageOf(name, hash, place, budget)
    // The one that was used longest ago is the first: pages at the root are used by every question.
    this.#pages.delete(name)
    this.#pages.set(name, page)
    if (this.#pages.size > keptPages) this.#pages.delete(this.#pages.keys().next().value as string)
    return page
  }

  /** The leaf with a value. */
  async leaf(value: Uint8Array, key: MapKey, budget: FileBudget): Promise<MirrorLeaf> {
    const name = leafName(value)
    const leaf = readLeafFile(await this.bytes(name, answerBounds.latest.bytes, budget))
    if (leaf === undefined) throw this.wrong(name, 'is no leaf')
    if (!equalBytes(valueOfLeaf(leaf), value)) throw this.wrong(name, 'holds another history than that of its name')
    if (!equalBytes(leaf.key, key)) throw this.wrong(name, 'is the leaf of another key')
    return leaf
  }

  /** The JSON in a file of bounded size. */
  async json(name: string, most: number, budget: FileBudget): Promise<unknown> {
    const text = utf8(await this.bytes(name, most, budget))
    if (text === undefined) throw this.wrong(name, 'is no text')
    try {
      return parse(text)
    } catch {
      throw this.wrong(name, 'is no JSON')
    }
  }

  /** The bytes of a file. */
  async bytes(name: string, most: number, budget: FileBudget): Promise<Uint8Array> {
    budget.take(this.url)
    const url = `${this.url}/${name}`
    return timely(`the mirror ${this.url}`, async (timing) => {
      const response = await this.#fetch(url, timing)
      requirePresent(response, this.url, url)
      if (response.status !== 200) {
        void response.body?.cancel().catch(() => {})
        throw new LightError('unreachable', `${url} answers HTTP ${response.status}`)
      }
      const parts: Uint8Array[] = []
      let size = 0
      await eachChunk(response, (part) => {
        size += part.length
        if (size > most) throw this.wrong(name, `has more than ${most} bytes`)
        budget.read(part.length, this.url)
        parts.push(part)
      })
      return concat(...parts)
    })
  }

  /** The failure of a file that is not what it is named. */
  wrong(name: string, what: string): LightError {
    return new LightError('mirror-file', `the file ${name} of ${this.url} ${what}`)
  }

  /** Reads a page, which is forgotten if that fails. */
  #pageOf(name: string, hash: Hash, place: PagePlace, budget: FileBudget): Promise<MirrorPage> {
    const page = this.#readPage(name, hash, place, budget)
    page.catch(() => this.#pages.delete(name))
    return page
  }

  async #readPage(name: string, hash: Hash, place: PagePlace, budget: FileBudget): Promise<MirrorPage> {
    const page = readPageFile(await this.bytes(name, longestPage, budget), place)
    if (page === undefined) throw this.wrong(name, `is no page at depth ${place.depth} on the way`)
    if (!equalBytes(page.hash, hash)) throw this.wrong(name, 'has another hash than that of its name')
    return page
  }
}
