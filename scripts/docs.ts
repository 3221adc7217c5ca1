/** Writes the generated pages of docs/, or with --check fails when one differs from what it would write. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cliPage } from './docs/cli-page.js'
import { errorsPage } from './docs/errors-page.js'

const pages: Readonly<Record<string, () => string>> = {
  'docs/cli.md': cliPage,
  'docs/errors.md': errorsPage,
}

const root = new URL('../', import.meta.url)
let stale = false
for (const [name, page] of Object.entries(pages)) {
  const file = fileURLToPath(new URL(name, root))
  const text = page()
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text)
  } else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${name} is not what its source says: run npm run docs`)
    stale = true
  }
}
process.exitCode = stale ? 1 : 0
