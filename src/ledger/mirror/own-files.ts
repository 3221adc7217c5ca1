import { gunzipSync, gzipSync } from 'node:zlib'
import { UserError } from '../../base/errors/rule-error.js'
import { fromUtf8, utf8 } from '../../base/primitives/bytes.js'
import {
  cosignedName,
  headName,
  type MirrorHead,
  mirrorCosignedFormat,
  mirrorFormat,
  mostCosignedHeads,
} from '../../identity/proofs/mirror-head.js'
import { withCosigned } from './cosigned-heads.js'
import { ownFolder } from './file-headers.js'
import { isMirrorName, type MirrorStore } from './mirror-store.js'

/** Files of a mirror that are for itself: what it is about to write, and what no later block needs. They are read once, since it alone writes them. */

const intentName = 'own/intent'
/** Stands for the hash of a head where there is none. */
const noHead = 'none'
const goneFolder = 'own/gone'
/** @limit bytes: a list of names that a mirror reads of its own, packed and unpacked */
const longestList = 256 * 1024 * 1024
/** @limit bytes: the head of a mirror, in which the coinbase of a block may be long */
export const longestHead = 256 * 1024

/** A list of names that no block from a height on needs. */
interface GoneList {
  readonly height: number
  /** Unix milliseconds. */
  readonly at: number
}

/** Bounds that tests shorten. */
export interface OwnBounds {
  /** Bytes of a list of names, packed and unpacked. */
  readonly longestList: number
}

/** How long files stay that no later block needs: both have to be over. */
export interface Keeping {
  readonly keepBlocks: number
  readonly keepSeconds: number
}

export class OwnFiles {
  readonly #store: MirrorStore
  readonly #longest: number
  #head: MirrorHead | undefined
  #cosigned: readonly MirrorHead[]
  #unfinished: readonly string[]
  #gone: readonly GoneList[]

  private constructor(
    store: MirrorStore,
    { head, cosigned }: { readonly head: MirrorHead | undefined; readonly cosigned: readonly MirrorHead[] },
    unfinished: readonly string[],
    gone: readonly GoneList[],
    bounds: OwnBounds,
  ) {
    this.#store = store
    this.#longest = bounds.longestList
    this.#head = head
    this.#cosigned = cosigned
    this.#unfinished = unfinished
    this.#gone = gone
  }

  /** Reads what a mirror of a chain has; a UserError for one of another chain, and for other files. */
  static async open(store: MirrorStore, chain: string, bounds: OwnBounds = { longestList }): Promise<OwnFiles> {
    const head = await storedHead(store, chain)
    const [after, ...names] = await listOf(store, intentName, bounds)
    const unfinished = after === (head?.hash ?? noHead) ? names : []
    const cosigned = await storedCosigned(store, chain)
    return new OwnFiles(store, { head, cosigned }, unfinished, await goneLists(store), bounds)
  }

  /** Undefined: the mirror has none yet. */
  get head(): MirrorHead | undefined {
    return this.#head
  }

  /** Names of files that were about to be written after the head: some may be there. */
  get unfinished(): readonly string[] {
    return this.#unfinished
  }

  /**
   * Notes the names of files that are about to be written after the head. Those of a step that did not end stay noted until one does. Names
   * that are too many for a list are left out: their files stay if the step does not end.
   */
  async noteIntent(names: readonly string[]): Promise<void> {
    this.#unfinished = [...new Set([...this.#unfinished, ...names])]
    const [lines = []] = listsOf([this.#head?.hash ?? noHead, ...this.#unfinished], this.#longest)
    await this.#store.replace({ name: intentName, bytes: packed(lines) })
  }

  /** Notes names that no block from a height on needs. */
  async noteGone({ height, at }: GoneList, names: readonly string[]): Promise<void> {
    await this.#forgetAbove(this.#head?.height ?? -1)
    const lists = listsOf(names, this.#longest)
    for (const [i, some] of lists.entries()) {
      // Each further list of a height has a time of its own.
      const list = { height, at: at + i }
      await this.#store.replace({ name: goneName(list), bytes: packed(some) })
      this.#gone = [...this.#gone, list]
    }
  }

  /** Forgets the lists of steps that did not end: where their blocks were taken back, later ones need some of the files. */
  async #forgetAbove(height: number): Promise<void> {
    const ended = this.#gone.filter((list) => list.height <= height)
    if (ended.length === this.#gone.length) return
    await this.#store.deleteAll(this.#gone.filter((list) => list.height > height).map(goneName))
    this.#gone = ended
  }

  /** Forgets what was noted so far: another list takes its place. */
  async forgetGone(): Promise<void> {
    await this.#store.deleteAll(this.#gone.map(goneName))
    this.#gone = []
  }

  /** Writes a head, and where it has signatures of witnesses the list of those. `keepBlocks`: blocks for which files stay. */
  async putHead(head: MirrorHead, { keepBlocks }: Pick<Keeping, 'keepBlocks'>): Promise<void> {
    await this.#store.replace({ name: headName, bytes: fromUtf8(JSON.stringify(head)) })
    this.#head = head
    this.#unfinished = []
    if (head.cosignatures === undefined) return
    this.#cosigned = withCosigned(this.#cosigned, head, head.height - keepBlocks)
    const text = JSON.stringify({ format: mirrorCosignedFormat, heads: this.#cosigned })
    await this.#store.replace({ name: cosignedName, bytes: fromUtf8(text) })
  }

  /** Deletes files whose time is over. A crash between leaves a list that is worked off again. */
  async deleteOld(now: number, { keepBlocks, keepSeconds }: Keeping, requireOpen: () => void): Promise<void> {
    const height = this.#head?.height ?? 0
    const times = timesOf(this.#gone)
    const isOld = (list: GoneList, i: number) =>
      list.height <= height - keepBlocks && (times[i] ?? list.at) <= now - keepSeconds * 1000
    for (const list of this.#gone.filter(isOld)) {
      requireOpen()
      const names = await listOf(this.#store, goneName(list), { longestList: this.#longest })
      await this.#store.deleteAll(names.filter(mayGo))
      await this.#store.deleteAll([goneName(list)])
      this.#gone = this.#gone.filter((one) => one !== list)
    }
  }
}

/** Times at which lists were noted, in Unix milliseconds, each capped by that of the next list: the clock may have been ahead. */
function timesOf(lists: readonly GoneList[]): number[] {
  const times = lists.map(({ at }) => at)
  for (let i = times.length - 2; i >= 0; i--) times[i] = Math.min(times[i] as number, times[i + 1] as number)
  return times
}

/** Whether a name is that of a file that never changes: nothing else is deleted, though a list that was damaged may name it. */
function mayGo(name: string): boolean {
  return isMirrorName(name) && name.includes('/') && !name.startsWith(ownFolder)
}

/** A UserError for a mirror of another chain, and for other files. */
export async function requireMirrorOf(store: MirrorStore, chain: string): Promise<void> {
  await storedHead(store, chain)
}

async function storedHead(store: MirrorStore, chain: string): Promise<MirrorHead | undefined> {
  const bytes = await store.get(headName, longestHead)
  if (bytes === undefined) return undefined
  const head = readJson(bytes) as Partial<MirrorHead> | undefined
  if (head?.format !== mirrorFormat || !Number.isSafeInteger(head.height)) {
    throw new UserError(`the file ${headName} is none of a mirror: name an empty folder or prefix`)
  }
  if (head.chain !== chain) throw new UserError(`it is the mirror of another chain, ${head.chain}, not of ${chain}`)
  return head as MirrorHead
}

/** The cosigned heads that a mirror shows; none where the file is no list of a mirror of the chain: it is written with the next one. */
async function storedCosigned(store: MirrorStore, chain: string): Promise<readonly MirrorHead[]> {
  const bytes = await store.get(cosignedName, mostCosignedHeads * longestHead)
  const sent = bytes && (readJson(bytes) as { readonly format?: unknown; readonly heads?: unknown } | undefined)
  if (sent?.format !== mirrorCosignedFormat || !Array.isArray(sent.heads)) return []
  return (sent.heads as (Partial<MirrorHead> | null)[]).filter((one): one is MirrorHead => {
    return one?.chain === chain && Number.isSafeInteger(one.height) && Array.isArray(one.cosignatures)
  })
}

async function goneLists(store: MirrorStore): Promise<readonly GoneList[]> {
  const lists: GoneList[] = []
  for await (const some of store.names(goneFolder)) {
    for (const name of some) {
      const [, height, at] = /\/(\d+)-(\d+)$/.exec(name) ?? []
      if (height !== undefined) lists.push({ height: Number(height), at: Number(at) })
    }
  }
  return lists.sort((a, b) => a.height - b.height || a.at - b.at)
}

function goneName({ height, at }: GoneList): string {
  return `${goneFolder}/${height}-${at}`
}

/** Names are hex for the most part, of which packing leaves half. */
function packed(lines: readonly string[]): Uint8Array {
  return gzipSync(lines.join('\n'))
}

/** The lines of a note; none of a missing one, and of one that is damaged or too long. */
async function listOf(store: MirrorStore, name: string, { longestList: most }: OwnBounds): Promise<readonly string[]> {
  const bytes = await store.get(name, most)
  if (bytes === undefined) return []
  try {
    const text = utf8(gunzipSync(bytes, { maxOutputLength: most })) ?? ''
    return text === '' ? [] : text.split('\n')
  } catch {
    return []
  }
}

/** Lines in as many lists as they need, each of which can be read again. */
function listsOf(lines: readonly string[], most: number): string[][] {
  const lists: string[][] = []
  let left = -1
  for (const line of lines) {
    if (left < line.length) {
      lists.push([])
      left = most
    }
    lists.at(-1)?.push(line)
    left -= line.length + 1
  }
  return lists
}

function readJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8(bytes) ?? '')
  } catch {
    return undefined
  }
}
