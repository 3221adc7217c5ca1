/** Writes the generated files of docs/, man/, genesis/ and src/; with --check fails if one differs from its source. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { trustText } from '../src/program/cli/genesis-command.js'
import { loadSpec } from '../src/program/cli/load-spec.js'
import { shippedSpecs } from '../src/node/library/shipped.js'
import { cliPage } from './docs/cli-page.js'
import { configurationPage } from './docs/configuration-page.js'
import { errorsPage } from './docs/errors-page.js'
import { operatePage } from './docs/fill-costs.js'
import { jsonRpcPage, methodExamples } from './docs/json-rpc-page.js'
import { limitsPage } from './docs/limits-page.js'
import { manPage } from './docs/man-page.js'
import { monitoringPage } from './docs/monitoring-page.js'
import { restPage } from './docs/rest-page.js'
import { scalePage } from './docs/scale-page.js'

const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/cli.md': cliPage,
  'docs/configuration.md': configurationPage,
  'docs/errors.md': errorsPage,
  'docs/json-rpc.md': jsonRpcPage,
  'docs/limits.md': limitsPage,
  'docs/monitoring.md': monitoringPage,
  'docs/operate.md': operatePage,
  'docs/rest.md': restPage,
  'docs/scale.md': scalePage,
  'man/didledger.1': manPage,
  'src/answers/api/rpc/method-examples.ts': methodExamples,
  ...Object.fromEntries(shippedSpecs.map((name) => [`genesis/${name}.trust.json`, () => trustText(loadSpec(name))])),
}

const root = new URL('../', import.meta.url)
let stale = false
for (const [name, page] of Object.entries(pages)) {
  const file = fileURLToPath(new URL(name, root))
  const text = await page()
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text)
  } else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${name} is not what its source says: run npm run docs`)
    stale = true
  }
}
process.exitCode = stale ? 1 : 0
