/**
 * npm run bench [-- SUITE…]: the figures of docs/performance.md, measured in one run. Without a suite all of them run, about twenty
 * minutes. --json keeps them in a file (--out names it), --repeat=N measures each suite so often, --compare A B says what changed from one
 * file to the other.
 */
import { parseArgs } from 'node:util'
import { coinsSuite } from './coins.js'
import { connectSuite } from './connect.js'
import { didBlocksSuite } from './did-blocks.js'
import { eventsSuite } from './events.js'
import { httpSuite } from './http.js'
import { lightSuite } from './light.js'
import { proofsSuite } from './proofs.js'
import { querySuite } from './query.js'
import { reorganisationSuite } from './reorganisation.js'
import { type Row, tableOf } from './report.js'
import { comparison, keepResults, keptRows, type KeptRow, readResults } from './results.js'
import { searchSuite } from './search.js'
import { startSuite } from './start.js'
import { syncSuite } from './sync.js'
import { templateSuite } from './template.js'
import { verifySuite } from './verify.js'
import { votesSuite } from './votes.js'
import { worstSuite } from './worst.js'

const suites: Readonly<Record<string, () => Promise<Row[]>>> = {
  connect: connectSuite,
  dids: didBlocksSuite,
  coins: coinsSuite,
  reorganisation: reorganisationSuite,
  http: httpSuite,
  query: querySuite,
  search: searchSuite,
  proofs: proofsSuite,
  light: lightSuite,
  start: startSuite,
  template: templateSuite,
  events: eventsSuite,
  sync: syncSuite,
  votes: votesSuite,
  worst: worstSuite,
  verify: verifySuite,
}

const { values: flags, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean' },
    out: { type: 'string' },
    repeat: { type: 'string', default: '1' },
    compare: { type: 'boolean' },
    // Read by the suites.
    dids: { type: 'string' },
  },
})

if (flags.compare === true) {
  const [before, after] = wanted
  if (before === undefined || after === undefined) fail('--compare takes the files of two runs')
  for (const line of comparison(readResults(before), readResults(after))) console.log(line)
  process.exit(0)
}
const unknown = wanted.filter((name) => !(name in suites))
if (unknown.length > 0) fail(`no suite ${unknown.join(', ')}; there are ${Object.keys(suites).join(', ')}`)
const times = Number(flags.repeat)
if (!Number.isInteger(times) || times < 1) fail('--repeat takes a number of repetitions')

const rows: KeptRow[] = []
for (const [name, suite] of Object.entries(suites)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const repetitions: Row[][] = []
  for (let i = 1; i <= times; i++) {
    console.error(`${name} …${times > 1 ? ` ${i} of ${times}` : ''}`)
    repetitions.push(await suite())
  }
  rows.push(...keptRows(repetitions))
}
console.log(tableOf(rows))
if (flags.json === true) console.error(`kept in ${keepResults(rows, flags.out)}`)

function fail(text: string): never {
  console.error(text)
  process.exit(2)
}
