/** npm run bench [-- --json]: the figures of docs/performance.md, measured in one run. */
import { connectRates } from './connect.js'
import type { Row } from './report.js'

const suites: Readonly<Record<string, () => Promise<Row[]>>> = { connect: connectRates }

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const rows: Row[] = []
for (const [name, suite] of Object.entries(suites)) {
  if (wanted.length === 0 || wanted.includes(name)) rows.push(...(await suite()))
}

if (process.argv.includes('--json')) {
  console.log(JSON.stringify(rows, null, 2))
} else {
  const width = Math.max(...rows.map(({ name }) => name.length))
  for (const { name, value, unit, ratio, target } of rows) {
    const figure = `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1)} ${unit}`
    const relation = ratio === undefined ? '' : `  ratio ${ratio.toFixed(2)}`
    const wish = target === undefined ? '' : `  (target ${ratio === undefined ? '≤' : '≥'} ${target})`
    console.log(`${name.padEnd(width)}  ${figure.padStart(14)}${relation}${wish}`)
  }
}
