import { anchorInterval, headersInFile } from '../../src/identity/proofs/mirror-head.js'
import { grouped } from './shown.js'

/** Computes what a mirror costs, for the table of docs/operate.md: files, bytes, and requests of an object store. */

/** Bytes of files by `npm run bench -- mirror --dids=100000`: documents of 1.4 kB, a head with the confirm of four validators. */
const measured = { leaf: 3043, head: 1643 }
/** A DID is changed so often a year, blocks come a day: one every ten seconds, operations spread over them. */
const assumed = { changesOfYear: 4, blocksOfDay: 8640 }
const sizes = [100_000, 1_000_000, 10_000_000]

/** Slots of a page, of the bits that it decides. */
const [slots, pageBits] = [16, 4]
/** Bytes in a page: kinds of its slots, a leaf's key and value, the hash of an inner node. */
const bytes = { kinds: 4, leaf: 64, inner: 32 }
/** Bytes of a name in the notes of a mirror, which are packed. */
const nameBytes = 38
/** Files that an object store deletes at one request. */
const deletedAtOnce = 1000
/** Deeper than any map of random keys has pages. */
const deepest = 16

/** Expected pages of a map. */
export interface Pages {
  readonly count: number
  readonly bytes: number
}

/** The cells by which pages of a level of a map with so many random keys stand: how many, and those with one key and with more. */
function cellsOf(level: number, dids: number): { cells: number; single: number; more: number } {
  const cells = slots ** level
  const none = Math.exp(dids * Math.log1p(-1 / cells))
  // The page at the root is there for a single key too.
  const single = level === 0 ? 0 : dids * Math.exp((dids - 1) * Math.log1p(-1 / cells))
  return { cells, single, more: Math.max(0, cells * (1 - none) - single) }
}

/** The pages of a map of so many DIDs: one for each place at which two keys or more begin alike. */
export function pagesOf(dids: number): Pages {
  let [count, size] = [0, 0]
  for (let level = 0; level < deepest; level++) {
    const { pages, bytes } = levelOf(level, dids)
    count += pages
    size += bytes
  }
  return { count, bytes: size }
}

function levelOf(level: number, dids: number): { readonly pages: number; readonly bytes: number } {
  const own = cellsOf(level, dids)
  const below = cellsOf(level + 1, dids)
  const fixed = 1 + Math.ceil((level * pageBits) / 8) + bytes.kinds
  // Where a key is alone already, it is in no page of this level.
  const size = own.more * fixed + (below.single - own.single) * bytes.leaf + below.more * bytes.inner
  return { pages: own.more, bytes: size }
}

/** The pages that a block changes which changes so many DIDs. */
export function changedPages(dids: number, changes: number): Pages {
  let [count, size] = [0, 0]
  for (let level = 0; level < deepest; level++) {
    const { cells } = cellsOf(level, dids)
    const alone = level === 0 ? 0 : Math.exp((dids - 1) * Math.log1p(-1 / cells))
    const touched = cells * -Math.expm1(changes * Math.log1p(-1 / cells)) - changes * alone
    const all = levelOf(level, dids)
    if (all.pages < 1e-9 || touched <= 0) continue
    count += touched
    size += (touched * all.bytes) / all.pages
  }
  return { count, bytes: size }
}

/** Pages on the way of a DID. */
export function wayOf(dids: number): Pages {
  let [count, size] = [0, 0]
  for (let level = 0; level < deepest; level++) {
    const { cells } = cellsOf(level, dids)
    const part = level === 0 ? 1 : -Math.expm1((dids - 1) * Math.log1p(-1 / cells))
    const all = levelOf(level, dids)
    if (all.pages < 1e-9) continue
    count += part
    size += (part * all.bytes) / all.pages
  }
  return { count, bytes: size }
}

/** Files, bytes and requests of a mirror of so many DIDs. */
function costOf(dids: number) {
  const { blocksOfDay, changesOfYear } = assumed
  const changes = (dids * changesOfYear) / 365
  // Blocks with an operation, where operations come at random.
  const busy = blocksOfDay * -Math.expm1(-changes / blocksOfDay)
  const block = changedPages(dids, changes / busy)
  const pages = { count: block.count * busy, bytes: block.bytes * busy }
  const made = changes + pages.count
  const notes = 2 * made * nameBytes
  const chain = blocksOfDay / headersInFile + blocksOfDay / anchorInterval
  const all = pagesOf(dids)
  const way = wayOf(dids)
  return {
    dids,
    changes,
    files: dids + all.count,
    bytes: dids * measured.leaf + all.bytes,
    waiting: made,
    puts: blocksOfDay + made + 2 * busy + chain,
    written: changes * measured.leaf + pages.bytes + notes + blocksOfDay * measured.head,
    gets: blocksOfDay + busy,
    deletes: busy * (Math.ceil(made / busy / deletedAtOnce) + 1),
    way: way.count,
    requests: 2 + way.count,
    read: measured.head + way.bytes + measured.leaf,
  }
}

/** The lines of the table. */
export function mirrorCostTable(): string {
  const costs = sizes.map(costOf)
  const line = (what: string, of: (cost: (typeof costs)[number]) => string) =>
    `| ${[what, ...costs.map(of)].join(' | ')} |`
  return [
    line('', ({ dids }) => `${grouped(dids)} DIDs`),
    `| ${['---', ...costs.map(() => '---')].join(' | ')} |`,
    line('files', ({ files }) => rounded(files)),
    line('bytes', ({ bytes }) => sizeText(bytes)),
    line('first run, PUT', ({ files }) => rounded(files)),
    line('changes a day', ({ changes }) => rounded(changes)),
    line('PUT a day', ({ puts }) => rounded(puts)),
    line('bytes written a day', ({ written }) => sizeText(written)),
    line('GET a day by the mirror', ({ gets }) => rounded(gets)),
    line('DELETE a day', ({ deletes }) => rounded(deletes)),
    line('files that wait for their deletion', ({ waiting }) => rounded(waiting)),
    line('GET of a new reader for a DID', ({ requests }) => requests.toFixed(1)),
    line('bytes of them', ({ read }) => sizeText(read)),
    '',
  ].join('\n')
}

/** Three digits of a count. */
function rounded(count: number): string {
  return grouped(Number(count.toPrecision(3)))
}

function sizeText(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(count) / 3))
  return `${Number((count / 1000 ** power).toPrecision(3))} ${units[power]}`
}
