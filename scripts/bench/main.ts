/**
 * npm run bench [-- SUITE…]: the figures of docs/performance.md, measured in one run. Without a suite all of them run, about twenty
 * minutes. --json keeps them in a file (--out names it), --repeat=N measures each suite so often, --compare A B says what changed from one
 * file to the other, --dids=N,M chooses numbers of DIDs, --chains=DIR keeps chains of many DIDs for further runs.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import './compiled.js'
import { countIn, refuse, scriptArguments } from '../script-arguments.js'
import { type Row, tableOf } from './report.js'
import { comparison, keepResults, keptRows, type KeptRow, readResults } from './results.js'

/** Files of ./suites, in the order of their runs. Each is imported when it runs: from then on src is as compiled. */
const names =
  'connect dids coins reorganisation http query search proofs light start commands template events sync votes worst verify growth join fleet ship gateway witness watch mirror peers'
const suites = names.split(' ')

const { values: flags, positionals: wanted } = scriptArguments(import.meta.url, {
  allowPositionals: true,
  options: {
    json: { type: 'boolean' },
    out: { type: 'string' },
    repeat: { type: 'string', default: '1' },
    compare: { type: 'boolean' },
    // Read by suites.
    dids: { type: 'string' },
    chains: { type: 'string' },
  },
})

if (flags.compare === true) {
  const [before, after] = wanted
  if (before === undefined || after === undefined) refuse('--compare takes the files of two runs')
  for (const line of comparison(readResults(before), readResults(after))) console.log(line)
  process.exit(0)
}
const unknown = wanted.filter((name) => !suites.includes(name))
if (unknown.length > 0) refuse(`no suite ${unknown.join(', ')}; there are ${suites.join(', ')}`)
const times = countIn('repeat', flags.repeat, 1)

// Another build that this user runs would put its compiled code in the place of the measured one's.
const compiledCode = mkdtempSync(join(tmpdir(), 'didledger-bench-'))
process.env['XDG_CACHE_HOME'] = compiledCode
process.on('exit', () => rmSync(compiledCode, { recursive: true, force: true }))

const rows: KeptRow[] = []
for (const name of suites.filter((one) => wanted.length === 0 || wanted.includes(one))) {
  const { suite } = (await import(`./suites/${name}.js`)) as { suite: () => Promise<Row[]> }
  const repetitions: Row[][] = []
  for (let i = 1; i <= times; i++) {
    console.error(`${name} …${times > 1 ? ` ${i} of ${times}` : ''}`)
    repetitions.push(await suite())
  }
  rows.push(...keptRows(repetitions))
}
console.log(tableOf(rows))
if (flags.json === true) console.error(`kept in ${keepResults(rows, flags.out)}`)
