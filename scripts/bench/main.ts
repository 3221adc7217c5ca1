/**
 * npm run bench [-- SUITE…] [--json]: the figures of docs/performance.md, measured in one run. Without a suite all of
 * them run, about fifteen minutes.
 */
import { connectSuite } from './connect.js'
import { didBlocksSuite } from './did-blocks.js'
import { eventsSuite } from './events.js'
import { httpSuite } from './http.js'
import { lightSuite } from './light.js'
import { proofsSuite } from './proofs.js'
import { querySuite } from './query.js'
import { reorganisationSuite } from './reorganisation.js'
import { type Row, tableOf } from './report.js'
import { searchSuite } from './search.js'
import { startSuite } from './start.js'
import { syncSuite } from './sync.js'
import { templateSuite } from './template.js'
import { votesSuite } from './votes.js'
import { worstSuite } from './worst.js'

const suites: Readonly<Record<string, () => Promise<Row[]>>> = {
  connect: connectSuite,
  dids: didBlocksSuite,
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
}

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = wanted.filter((name) => !(name in suites))
if (unknown.length > 0) {
  console.error(`no suite ${unknown.join(', ')}; there are ${Object.keys(suites).join(', ')}`)
  process.exit(2)
}
const rows: Row[] = []
for (const [name, suite] of Object.entries(suites)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.error(`${name} …`)
  rows.push(...(await suite()))
}
console.log(process.argv.includes('--json') ? JSON.stringify(rows, null, 2) : tableOf(rows))
