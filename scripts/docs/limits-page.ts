import { readdirSync, readFileSync } from 'node:fs'
import layers from '../config/layers.cjs'
import { parsed } from './constant-values.js'
import { readRows, rowFaults } from './limit-rows.js'
import { type Limit, readLimits } from './limit-tags.js'
import { code, filled, tableRow } from './shown.js'

const root = new URL('../../', import.meta.url)

/** Rooms, each with the folders in it that have an order of their own; lowest layer first. */
const folders = sectionsOf(
  layers.forbidden.flatMap(({ name }) => (name.startsWith('layer-') ? [name.slice('layer-'.length)] : [])),
)

/** Words before the table of a folder. */
const introductions: Readonly<Record<string, string>> = {
  'base/primitives': `\`fixedLimits\`, \`maxAuxPowSize\` and \`maxMultisigKeys\` are rules of every chain. The others bound readers, and apply before any rule, so that
no length field can make a reader allocate more than its input holds.`,
  'identity/did': 'Rules of every chain.',
  'ledger/consensus': 'Rules of every chain.',
  'ledger/mempool': 'Policy of this node; others may choose otherwise.',
  network: 'Memory and work that other nodes can cause. [network.md](network.md) has the peers.',
  'network/wire': '[protocol.md](protocol.md) has the formats of these messages.',
  'network/peers': '`--outbound` and `--inbound` set how many connections the node opens and accepts.',
  'network/sync': '[sync.md](sync.md) says how a chain is learnt.',
  'answers/api': `For each of the two ports. Bodies and answers are bounded for all ports together. When the limit of an address, or of all, is
reached, a new connection replaces another: first one without a request, the longest idle one, then one whose body arrives slowly or
whose answer is not read. Proxies that the owner names may use all connections ([proxy.md](proxy.md)). The rate limit does not count clients on this machine
(\`apiLimits.rateSparesLoopback\`).

The limits of a JSON-RPC body, a batch, headers, closing, and requests of one address hold for WebSocket too.`,
}

/** Members of a spec that bound what its chain takes: what, unit and path. */
const specRows: readonly (readonly [what: string, unit: string, path: string])[] = [
  ['block, with its transactions', 'bytes', 'limits.blockSize'],
  ['transactions of a block', 'count', 'limits.blockTransactions'],
  ['signature cost of a transaction', 'checks', 'limits.transactionCost'],
  ['signature cost of a block', 'checks', 'limits.blockCost'],
  ['every amount and every sum', '10⁻⁸ coins', 'maxMoney'],
  ['blocks until a coinbase can be spent', 'blocks', 'maturity'],
  ['least fee of a transaction', '10⁻⁸ coins', 'fees.minimum'],
]

/** docs/limits.md: every constant of `src` with a tag `@limit`. Throws where one has no row with its two cases, or another one. */
export function limitsPage(): string {
  const limits = readLimits(parsed(textsBelow('src')))
  const rows = readRows(parsed(textsBelow('test/limits')))
  const faults = rowFaults(limits, rows)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return filled('limits.md', { specs: specTable(), limits: limitTables(limits) })
}

/** The names of layers without those of single files, the inner ones behind their rooms. */
function sectionsOf(names: readonly string[]): string[] {
  const rooms = names.filter((name) => !name.includes('/'))
  return rooms.flatMap((room) => [
    room,
    ...names.filter((name) => name.startsWith(`${room}/`) && !name.endsWith('.ts')),
  ])
}

/** A table for each folder that has limits. */
export function limitTables(limits: readonly Limit[]): string {
  const used = [...new Set(limits.map(({ file }) => folderOf(file)))]
  const sections = used
    .sort((a, b) => folders.indexOf(a) - folders.indexOf(b))
    .map((folder) => {
      const introduction = introductions[folder]
      const words = introduction === undefined ? '' : `${introduction}\n\n`
      return `## ${folder}\n\n${words}${tableOf(limits.filter(({ file }) => folderOf(file) === folder))}\n`
    })
  return sections.join('\n')
}

function tableOf(limits: readonly Limit[]): string {
  const head = ['| limit | value | unit | what is bounded | file |', '| --- | --- | --- | --- | --- |']
  return [...head, ...limits.map(limitRow)].join('\n')
}

/** The room that a file is in, or the folder of the room if the layers name it. */
function folderOf(file: string): string {
  const [room = '', inner] = file.split('/')
  return folders.includes(`${room}/${inner}`) ? `${room}/${inner}` : room
}

function limitRow({ file, name, value, unit, what }: Limit): string {
  return tableRow(code(name), valueText(value, unit), unit, what, code(file))
}

/** The digits of a value in groups, and the value in a larger unit if that divides it: `10 000 (10 s)`. */
export function valueText(value: number, unit: string): string {
  const digits = grouped(String(value))
  const larger = largerUnits[unit]?.find(([, size]) => value % size === 0 && value < size * 10_000)
  return larger === undefined ? digits : `${digits} (${value / larger[1]} ${larger[0]})`
}

type Size = readonly [name: string, size: number]
const binary: readonly Size[] = ['GiB', 'MiB', 'KiB'].map((name, i) => [name, 1024 ** (3 - i)])
const times: readonly Size[] = Object.entries({ d: 86_400, h: 3600, min: 60, s: 1 })

/** For each unit larger ones and their sizes, largest first. */
const largerUnits: Readonly<Record<string, readonly Size[]>> = {
  bytes: binary,
  'bytes/s': binary.map(([name, size]) => [`${name}/s`, size]),
  ms: times.map(([name, size]) => [name, size * 1000]),
  s: times.filter(([name]) => name !== 's'),
}

function grouped(digits: string): string {
  return /^\d+$/.test(digits) ? digits.replace(/\B(?=(\d{3})+$)/g, ' ') : digits
}

/** The members of a JSON object by name; those that are no objects have none. */
interface Members {
  readonly [name: string]: Members | undefined
}

function specTable(): string[] {
  const specs = ['devnet', 'pow'].map((name): Members => JSON.parse(textOf(`genesis/${name}.json`)))
  const cell = (spec: Members, path: string) =>
    grouped(String(path.split('.').reduce<Members | undefined>((part, name) => part?.[name], spec)))
  return specRows.map(([what, unit, path]) =>
    tableRow(what, ...specs.map((spec) => cell(spec, path)), unit, code(path)),
  )
}

/** The texts of all files below a folder, by path below it. */
function textsBelow(folder: string): Map<string, string> {
  const names = readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.ts')).sort()
  return new Map(files.map((file) => [file, textOf(`${folder}/${file}`)]))
}

function textOf(name: string): string {
  return readFileSync(new URL(name, root), 'utf8')
}
