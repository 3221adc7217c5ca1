import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type InputOptions, rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import ts from 'typescript'

/**
 * Builds the package `didledger-client` (packages/client) of the modules and declarations that the compiler wrote to dist: a file of each
 * for an entry, and chunks of what entries share or load later. Classes are thus the same ones, and fit, across entries.
 *
 * Declarations have no comments: with them the package would be a sixth larger (docs/decisions/0046-small-package-without-specs-and-comments.md).
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}packages/client/dist`
const entries = {
  resolver: 'resolver-entry',
  light: 'light-entry',
  verify: 'verify-entry',
  wallet: 'wallet-client-entry',
  events: 'events-entry',
}
const { dependencies } = JSON.parse(readFileSync(`${root}packages/client/package.json`, 'utf8')) as {
  dependencies: Record<string, string>
}

/** The entries by name, each as the file of it with this extension. */
function inputs(extension: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [name, `${root}dist/node/library/${file}.${extension}`]),
  )
}

async function write(options: InputOptions, minify: boolean): Promise<void> {
  const external = Object.keys(dependencies).map((name) => new RegExp(`^${name}(/|$)`))
  const bundle = await rolldown({ cwd: root, platform: 'neutral', external, logLevel: 'warn', ...options })
  await bundle.write({ dir: folder, format: 'esm', minify, chunkFileNames: '[name]-[hash].js' })
  await bundle.close()
}

function withoutComments(file: string): void {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022)
  const printed = ts.createPrinter({ removeComments: true }).printFile(source)
  const flat = printed.replace(/^ +/gm, '').replace(/^((?:readonly )?[\w$"'-]+\??): /gm, '$1:')
  writeFileSync(file, withNames(flat))
}

/** The names of codes in place of a table of texts that has them as members. */
function withNames(text: string): string {
  const table = /declare const texts: \{\n([^}]*)\};\ntype Code = keyof typeof texts;/
  return text.replace(table, (_, members: string) => {
    const names = members
      .trim()
      .split('\n')
      .map((line) => `"${line.slice(0, line.lastIndexOf(':')).replaceAll('"', '')}"`)
    return `type Code = ${names.join('|')};`
  })
}

rmSync(folder, { recursive: true, force: true })
await write({ input: inputs('js') }, true)
await write({ input: inputs('d.ts'), plugins: [dts({ dtsInput: true })] }, false)
for (const file of readdirSync(folder)) if (file.endsWith('.d.ts')) withoutComments(`${folder}/${file}`)
