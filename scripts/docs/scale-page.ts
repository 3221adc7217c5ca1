import { readFileSync } from 'node:fs'
import { headerSize } from '../../src/base/primitives/header.js'
import type { Spec } from '../../src/base/primitives/spec.js'
import { policy } from '../../src/ledger/mempool/policy.js'
import { loadSpec } from '../../src/program/cli/load-spec.js'
import { createdSpec, type Filler, leafMakers } from './fill-costs.js'
import { code, filled, grouped, tableRow } from './shown.js'

const root = new URL('../../', import.meta.url)
const year = 365 * 86_400
/** Bytes of the documents that the disk was measured with. */
const document = 1397

/** A chain, and the least seconds from a block to the next one, where blocks are full and where they are empty. */
interface Pace {
  readonly name: string
  readonly spec: Spec
  readonly interval: number
  readonly empty: number
}

/** docs/scale.md: what limits a chain, from the rules of specs and from measured figures. */
export function scalePage(): string {
  const pow = loadSpec('pow')
  const created = paceOf('`genesis create`', createdSpec)
  const paces = [created, { ...paceOf(code('pow'), pow), interval: pow.retarget.spacing, empty: pow.retarget.spacing }]
  const connected = connectedUpdates()
  const rate = operationsIn(created, update()).count / created.interval
  return filled('scale.md', {
    small: grouped(leafMakers.create().bytes),
    document: grouped(document),
    rates: paces.map(ratesRow),
    connected: grouped(connected),
    share: `${Math.round((100 * connected) / rate)} %`,
    line: Math.round((8 * roomOf(created.spec)) / created.interval / 1e6).toString(),
    disk: paces.map(diskRow),
    empty: String(created.empty),
    create: grouped(measured('create of a DID')),
    many: manyDids.map(manyRow),
    factor: String(inPostgres()),
  })
}

function paceOf(name: string, spec: Spec): Pace {
  const { minInterval, emptyInterval } = spec.timing
  return { name, spec, interval: minInterval / 1000, empty: emptyInterval / 1000 }
}

/** Bytes of a block that transactions may have. */
function roomOf({ limits }: Spec): number {
  return limits.blockSize - headerSize - policy.coinbaseRoom
}

/** An update with a document of the size that was measured; its payload is in base64url. */
function update(): Filler {
  const { operation, ...create } = leafMakers.create()
  const small = Buffer.from(operation.payload, 'base64url').length
  // The txid of the operation before it, in hex behind its length.
  return { ...create, bytes: create.bytes + Math.ceil(((document - small) * 4) / 3) + 65 }
}

/** How many operations a block takes, and which rule ends it. */
function operationsIn({ spec }: Pace, { bytes, checks }: Filler): { readonly count: number; readonly by: string } {
  const { blockTransactions, blockCost } = spec.limits
  const bounds = [
    { count: Math.floor(roomOf(spec) / bytes), by: 'the bytes of a block' },
    { count: blockTransactions - 1, by: 'its transactions' },
    { count: Math.floor(blockCost / checks), by: 'its signature checks' },
  ]
  return bounds.reduce((least, bound) => (bound.count < least.count ? bound : least))
}

function ratesRow(pace: Pace): string {
  const { name, spec, interval } = pace
  const [creates, updates] = [operationsIn(pace, leafMakers.create()), operationsIn(pace, update())]
  const perSecond = (count: number) => (count / interval).toLocaleString('en-US', { maximumFractionDigits: 0 })
  return tableRow(
    name,
    `${interval} s`,
    perSecond(roomOf(spec)),
    `${perSecond(creates.count)}, by ${creates.by}`,
    perSecond(updates.count),
    updates.by,
  )
}

function diskRow(pace: Pace): string {
  const { name, spec, interval, empty } = pace
  const block = measured(`block without transactions, ${spec.hasValidators ? 4 : 1} validator`)
  const [one, given] = [measured('update of a DID'), measured('given up of it once superseded')]
  const full = (operationsIn(pace, update()).count * year) / interval
  const shown = (blocks: number, operations: number, bytes: number) => sizeText(blocks * block + operations * bytes)
  const busy = year / Math.max(1, interval)
  return tableRow(
    name,
    shown(year / empty, 0, 0),
    ...[one, one - given].map((bytes) => shown(busy, year, bytes)),
    ...[one, one - given].map((bytes) => shown(year / interval, full, bytes)),
  )
}

/** Numbers of DIDs that the page computes with. */
const manyDids = [1e5, 1e6, 1e7, 1e8, 1e9]

/** Cost of so many DIDs, each created once: disk of a node and of PostgreSQL, and the time to verify and to fill. */
function manyRow(dids: number): string {
  const own = dids * measured('create of a DID')
  const fill = dids * figure('docs/performance.md', /filled in (\d+) µs a DID/) * 1e-6
  return tableRow(
    grouped(dids),
    sizeText(own),
    timeText(dids / connectedUpdates()),
    sizeText(own * inPostgres()),
    timeText(fill),
  )
}

/** Bytes of rows in PostgreSQL, as a multiple of those in LevelDB. */
function inPostgres(): number {
  return figure('docs/performance.md', /has (\d\.\d+) times the bytes of LevelDB/)
}

function timeText(seconds: number): string {
  const [unit, name] = seconds < 7200 ? [60, 'min'] : seconds < 172_800 ? [3600, 'h'] : [86_400, 'days']
  return `${(seconds / unit).toLocaleString('en-US', { maximumSignificantDigits: 2 })} ${name}`
}

function sizeText(bytes: number): string {
  const [unit, name] = bytes < 1e12 ? [1e9, 'GB'] : [1e12, 'TB']
  return `${(bytes / unit).toLocaleString('en-US', { maximumSignificantDigits: 3 })} ${name}`
}

/** Bytes in the row of docs/operate.md that begins with a text. */
function measured(what: string): number {
  return figure('docs/operate.md', new RegExp(`^\\| ${what}.* \\| ([\\d,]+) \\|$`, 'm'))
}

/** Updates that a node connects in a second, by docs/performance.md. */
function connectedUpdates(): number {
  return figure('docs/performance.md', /^connect blocks of 500 updates of DIDs +([\d,]+) op\/s/m)
}

function figure(page: string, pattern: RegExp): number {
  const [, digits] = pattern.exec(readFileSync(new URL(page, root), 'utf8')) ?? []
  if (digits === undefined) throw new Error(`${page} has no figure like ${String(pattern)}`)
  return Number(digits.replaceAll(',', ''))
}
