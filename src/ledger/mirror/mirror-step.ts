import { displayHash, fromUtf8, parseDisplayHash, toHex } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { type Spec, validatorChanges } from '../../base/primitives/spec.js'
import { formatDate } from '../../identity/did/date.js'
import type { ChangeJson, ChangesJson } from '../../identity/did/state-proof.js'
import { didRoot } from '../../identity/proofs/map-tree.js'
import {
  anchorInterval,
  anchorName,
  changeName,
  headersInFile,
  lastHeaders,
  lastHeadersName,
  type MirrorHead,
  mirrorFormat,
} from '../../identity/proofs/mirror-head.js'
import type { FrozenRows } from '../storage/stored-rows.js'
import { meta, type TipRow } from '../storage/rows/tables.js'
import { present } from '../storage/rows/row-reader.js'
import { changesBetween, type MapChanges, MirroredState } from './mirrored-state.js'
import {
  activeHash,
  type HeaderSource,
  isActive,
  lastFiles,
  lastNames,
  wholeFiles,
  wholeHeaders,
} from './mirrored-headers.js'
import type { MirrorFile, MirrorStore } from './mirror-store.js'
import type { Keeping, OwnFiles } from './own-files.js'

/** One step of a mirror: from the block that its head names to the newest one that the chain proves. */

/** Files that are gathered before they are written: their names are noted first. */
const portionFiles = 4096
/** @tuning bytes: the same */
const portionBytes = 16 * 1024 * 1024
/** Blocks below the tip of which answers are proved on a chain without validators. */
const minedDepth = 6

/** Proofs of blocks by the rows of a chain. */
export interface MirrorProofs {
  change(tip: TipRow, wanted: { readonly height: number }): Promise<ChangeJson>
  changes(tip: TipRow, from: number): Promise<ChangesJson>
}

/** A chain that is mirrored. */
export interface MirroredChain {
  readonly spec: Spec
  readonly genesis: Hash
  readonly proofs: MirrorProofs
  /** Signatures of witnesses of a block. */
  cosignatures?(block: TipRow): readonly string[]
}

export interface StepOptions extends Keeping {
  readonly store: MirrorStore
  readonly own: OwnFiles
  readonly chain: MirroredChain
  readonly allVersions: boolean
  /** Unix milliseconds. */
  now(): number
  /** Throws to end the step between two files. */
  requireOpen(): void
}

/** Outcome of a step. */
export interface StepResult {
  readonly head: MirrorHead
  /** Files and bytes written. */
  readonly files: number
  readonly bytes: number
}

/** The block up to which a chain is mirrored under a tip; undefined: none is proved yet. */
export function mirroredHeight(spec: Spec, tip: number): number | undefined {
  const height = spec.hasValidators ? tip : tip - minedDepth
  const first = spec.sections.find(({ params }) => params.didRoot)
  return first !== undefined && height >= Math.max(1, first.height) ? height : undefined
}

/** Takes one step in a snapshot of the rows; undefined: the mirror is as of that block already, or no block is proved yet. */
export async function mirrorStep(rows: FrozenRows, options: StepOptions): Promise<StepResult | undefined> {
  const { chain, own } = options
  const tip = present(meta.tip.get(rows), 'the tip')
  const height = mirroredHeight(chain.spec, tip.height)
  if (height === undefined) return undefined
  const hash = activeHash(rows, height)
  if (own.head?.hash === displayHash(hash)) return undefined
  return new Step(rows, options, { tip, block: { height, hash }, head: own.head }).run()
}

/** Blocks of a step; `head`: the one that the mirror has. */
interface StepBlocks {
  readonly tip: TipRow
  readonly block: TipRow
  readonly head: MirrorHead | undefined
}

class Step {
  readonly #rows: FrozenRows
  readonly #options: StepOptions
  readonly #blocks: StepBlocks
  readonly #source: HeaderSource
  readonly #state: MirroredState
  /** Whether the block of the head is below this one. */
  readonly #continues: boolean
  #files = 0
  #bytes = 0

  constructor(rows: FrozenRows, options: StepOptions, blocks: StepBlocks) {
    const { head, block, tip } = blocks
    const { spec } = options.chain
    this.#rows = rows
    this.#options = options
    this.#blocks = blocks
    this.#source = { rows, spec, tip: tip.height }
    this.#state = new MirroredState(rows, block.height)
    const hash = head && parseDisplayHash(head.hash)
    this.#continues =
      hash !== undefined && (head?.height ?? 0) < block.height && isActive(rows, head?.height ?? 0, hash)
  }

  async run(): Promise<StepResult> {
    const { block, head } = this.#blocks
    const { chain, own, now } = this.#options
    const { anchor } = await chain.proofs.change(this.#blocks.tip, { height: block.height })
    const changes = this.#continues ? await changesBetween(this.#rows, head?.height ?? 0, block.height) : undefined
    const gone = changes === undefined ? await this.#writeAll() : await this.#writeChanges(changes)
    const written = await this.#writeChain()
    await own.noteGone({ height: block.height, at: now() }, [...gone, ...this.#goneHeaders()])
    const { root, cosignatures: _, ...proof } = anchor
    const cosignatures = chain.cosignatures?.(block) ?? []
    const next: MirrorHead = {
      format: mirrorFormat,
      chain: displayHash(chain.genesis),
      height: block.height,
      hash: displayHash(block.hash),
      mapRoot: root ?? toHex(this.#state.root),
      didRoot: toHex(didRoot(chain.genesis, this.#state.root)),
      anchor: proof,
      changes: written,
      headers: wholeFiles(this.#source),
      ...(!chain.spec.hasValidators && { tip: displayHash(this.#blocks.tip.hash) }),
      ...(cosignatures.length > 0 && { cosignatures }),
      written: formatDate(Math.floor(now() / 1000)),
    }
    await own.putHead(next, this.#options)
    await own.deleteOld(now(), this.#options, this.#options.requireOpen)
    return { head: next, files: this.#files, bytes: this.#bytes }
  }

  /** Writes the pages and leaves that blocks changed. Returns the names that are not needed any more. */
  async #writeChanges({ pages, leaves }: MapChanges): Promise<string[]> {
    const { allVersions: all, own } = this.#options
    const before = new MirroredState(this.#rows, this.#blocks.head?.height ?? 0)
    const gone = new Set(own.unfinished)
    for await (const { name } of before.pagesAt(pages)) gone.add(name)
    const counts = leaves.map((leaf) => before.operationsOf(leaf))
    for (const [i, leaf] of leaves.entries()) {
      const isVersion = all && 'did' in leaf
      const name = isVersion ? undefined : before.nameOfLeaf(leaf, counts[i] as number)
      if (name !== undefined) gone.add(name)
    }
    const written: string[] = []
    for await (const portion of portionsOf(this.#changedFiles({ pages, leaves }, counts))) {
      for (const { name } of portion) {
        written.push(name)
        gone.delete(name)
      }
      await own.noteIntent(written)
      await this.#put(portion)
    }
    return [...gone]
  }

  /** `counts`: operations that the DIDs of the leaves had before. */
  async *#changedFiles(
    { pages, leaves }: MapChanges,
    counts: readonly number[],
  ): AsyncGenerator<MirrorFile, void, void> {
    const { allVersions: all } = this.#options
    for (const [i, leaf] of leaves.entries()) yield* this.#state.leafFiles(leaf, { all, after: counts[i] as number })
    yield* this.#state.pagesAt(pages)
  }

  async *#allFiles(): AsyncGenerator<MirrorFile, void, void> {
    yield* this.#state.allLeaves({ all: this.#options.allVersions })
    yield* this.#state.allPages()
  }

  /** Writes all pages and leaves that the mirror has not. Returns the names of those that it has and does not need. */
  async #writeAll(): Promise<string[]> {
    const { store, own } = this.#options
    await own.forgetGone()
    const isFresh = this.#blocks.head === undefined && !(await hasAny(store, 'map')) && !(await hasAny(store, 'leaf'))
    const needed = isFresh ? undefined : new Set<string>()
    for await (const portion of portionsOf(this.#allFiles())) {
      if (needed !== undefined) for (const { name } of portion) needed.add(name)
      await this.#put(needed === undefined ? portion : await missing(store, portion))
    }
    return needed === undefined ? [] : await othersThan(store, needed)
  }

  /** Writes changes of validators, headers and anchors; resolves with the number of changes. */
  async #writeChain(): Promise<number> {
    const { spec } = this.#options.chain
    const { block, tip, head } = this.#blocks
    const heights = validatorChanges(spec).filter((height) => height <= block.height + 1)
    const from = this.#continues ? (head?.changes ?? 0) : 0
    const files: MirrorFile[] = []
    for (let number = from; number < heights.length;) {
      const { changes } = await this.#options.chain.proofs.changes(tip, (heights[number] as number) - 1)
      const some = changes.filter(({ height }) => height <= block.height + 1)
      if (some.length === 0) break
      for (const change of some) files.push(jsonFile(changeName(heights.indexOf(change.height)), change))
      number += some.length
    }
    const last = block.height - (block.height % anchorInterval)
    if (last > 0 && !(this.#continues && last <= (head?.height ?? 0))) {
      const change = await this.#options.chain.proofs.change(tip, { height: last }).catch(() => undefined)
      if (change !== undefined) files.push(jsonFile(anchorName(last), change))
    }
    await this.#put(files)
    for await (const portion of portionsOf(wholeHeaders(this.#source, this.#continues ? (head?.headers ?? 0) : 0))) {
      await this.#put(portion)
    }
    await this.#put([...lastFiles(this.#source, this.#lastAbove)])
    return heights.length
  }

  /** The height above which files of last headers are written: those of blocks below the head are there. */
  get #lastAbove(): number {
    const whole = wholeFiles(this.#source) * headersInFile - 1
    return this.#continues ? Math.max(whole, this.#blocks.head?.height ?? 0) : whole
  }

  /** Files of last headers to delete: those whose headers whole files have now, and that of the previous tip. */
  #goneHeaders(): readonly string[] {
    const { head } = this.#blocks
    if (head === undefined || !this.#continues) return []
    const tip = head.tip === undefined ? undefined : parseDisplayHash(head.tip)
    const whole = wholeFiles(this.#source)
    const ended = lastNames(this.#source, head.headers * headersInFile - 1, whole * headersInFile - 1)
    const own = tip === undefined ? [] : [lastHeadersName(tip)]
    const needed = new Set(lastNames(this.#source, this.#lastAbove, this.#source.tip))
    return [...new Set([...ended, ...own])].filter((name) => !needed.has(name) && !this.#leads(name))
  }

  /** Whether later files of last headers link to this one. */
  #leads(name: string): boolean {
    const { tip } = this.#source
    const first = wholeFiles(this.#source) * headersInFile
    for (let height = first + lastHeaders - 1; height <= tip; height += lastHeaders) {
      if (lastHeadersName(activeHash(this.#rows, height)) === name) return true
    }
    return false
  }

  async #put(files: readonly MirrorFile[]): Promise<void> {
    this.#options.requireOpen()
    await this.#options.store.putAll(files)
    this.#files += files.length
    this.#bytes += files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }
}

function jsonFile(name: string, value: unknown): MirrorFile {
  return { name, bytes: fromUtf8(JSON.stringify(value)) }
}

async function* portionsOf(
  files: AsyncIterable<MirrorFile> | Iterable<MirrorFile>,
): AsyncGenerator<MirrorFile[], void, void> {
  let portion: MirrorFile[] = []
  let size = 0
  for await (const file of files) {
    portion.push(file)
    size += file.bytes.length
    if (portion.length < portionFiles && size < portionBytes) continue
    yield portion
    portion = []
    size = 0
  }
  if (portion.length > 0) yield portion
}

async function hasAny(store: MirrorStore, folder: string): Promise<boolean> {
  for await (const some of store.names(folder)) if (some.length > 0) return true
  return false
}

/** Files asked for at once. */
const askedAtOnce = 32

async function missing(store: MirrorStore, files: readonly MirrorFile[]): Promise<MirrorFile[]> {
  const found: MirrorFile[] = []
  for (let start = 0; start < files.length; start += askedAtOnce) {
    const some = files.slice(start, start + askedAtOnce)
    const there = await Promise.all(some.map(({ name }) => store.has(name)))
    found.push(...some.filter((_, i) => there[i] === false))
  }
  return found
}

/** Names of pages and leaves that a mirror has, but those that it needs. */
async function othersThan(store: MirrorStore, needed: ReadonlySet<string>): Promise<string[]> {
  const others: string[] = []
  for (const folder of ['map', 'leaf']) {
    for await (const some of store.names(folder)) others.push(...some.filter((name) => !needed.has(name)))
  }
  return others
}
