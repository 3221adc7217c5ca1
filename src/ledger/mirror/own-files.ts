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
import type { MirrorStore } from './mirror-store.js'

/** Files of a mirror that are for itself: what it is about to write, and what no later block needs. They are read once, since it alone writes them. */

const intentName = 'own/intent'
/** Stands for the hash of a head where there is none. */
const noHead = 'none'
const goneFolder = 'own/gone'
/** @limit bytes: a list of names that a mirror reads of its own */
const longestList = 256 * 1024 * 1024
/** @limit bytes: the head of a mirror, in which the coinbase of a block may be long */
export const longestHead = 256 * 1024

/** A list of names that no block from a height on needs. */
interface GoneList {
  readonly height: number
  /** Unix milliseconds. */
  readonly at: number
}

/** How long files stay that no later block needs: both have to be over. */
export interface Keeping {
  readonly keepBlocks: number
  readonly keepSeconds: number
}

export class OwnFiles {
  readonly #store: MirrorStore
  #head: MirrorHead | undefined
  #cosigned: readonly MirrorHead[]
  #unfinished: readonly string[]
  #gone: readonly GoneList[]

  private constructor(
    store: MirrorStore,
    { head, cosigned }: { readonly head: MirrorHead | undefined; readonly cosigned: readonly MirrorHead[] },
    unfinished: readonly string[],
    gone: readonly GoneList[],
  ) {
    this.#store = store
    this.#head = head
    this.#cosigned = cosigned
    this.#unfinished = unfinished
    this.#gone = gone
  }

  /** Reads what a mirror of a chain has; a UserError for one of another chain, and for other files. */
  static async open(store: MirrorStore, chain: string): Promise<OwnFiles> {
    const head = await storedHead(store, chain)
    const [after, ...names] = linesOf(await store.get(intentName, longestList))
    const unfinished = after === (head?.hash ?? noHead) ? names : []
    return new OwnFiles(
      store,
      { head, cosigned: await storedCosigned(store, chain) },
      unfinished,
      await goneLists(store),
    )
  }

  /** Undefined: the mirror has none yet. */
  get head(): MirrorHead | undefined {
    return this.#head
  }

  /** Names of files that were about to be written after the head: some may be there. */
  get unfinished(): readonly string[] {
    return this.#unfinished
  }

  /** Notes the names of files that are about to be written after the head. Those of a step that did not end stay noted until one does. */
  async noteIntent(names: readonly string[]): Promise<void> {
    const lines = [this.#head?.hash ?? noHead, ...this.#unfinished, ...names]
    await this.#store.replace({ name: intentName, bytes: packed(lines) })
  }

  /** Notes names that no block from a height on needs. */
  async noteGone(list: GoneList, names: readonly string[]): Promise<void> {
    if (names.length === 0) return
    await this.#store.replace({ name: goneName(list), bytes: packed(names) })
    this.#gone = [...this.#gone, list]
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
    const isOld = (list: GoneList) => list.height <= height - keepBlocks && list.at <= now - keepSeconds * 1000
    for (const list of this.#gone.filter(isOld)) {
      requireOpen()
      await this.#store.deleteAll(linesOf(await this.#store.get(goneName(list), longestList)))
      await this.#store.deleteAll([goneName(list)])
      this.#gone = this.#gone.filter((one) => one !== list)
    }
  }
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

/** The lines of a note; none of a missing one, and of one that is damaged. */
function linesOf(bytes: Uint8Array | undefined): readonly string[] {
  if (bytes === undefined) return []
  try {
    const text = utf8(gunzipSync(bytes, { maxOutputLength: longestList })) ?? ''
    return text === '' ? [] : text.split('\n')
  } catch {
    return []
  }
}

function readJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8(bytes) ?? '')
  } catch {
    return undefined
  }
}
