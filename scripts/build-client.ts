import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type ChunkingContext,
  type CodeSplittingGroup,
  type InputOptions,
  type OutputOptions,
  rolldown,
} from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import ts from 'typescript'
import { shortDeclarations } from './short-declarations.js'

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

/** The modules that an entry needs at once, by their paths: those that it loads later do not count. */
function neededBy(entry: string, context: ChunkingContext, found = new Set<string>()): Set<string> {
  if (found.has(entry)) return found
  found.add(entry)
  for (const id of context.getModuleInfo(entry)?.importedIds ?? []) neededBy(id, context, found)
  return found
}

/**
 * One chunk of all that the same entries need: an entry loads what it needs and nothing else, in few files. By itself the bundler splits
 * these chunks further, by the modules that load later, which need their entry in any case. Larger sets of entries come first, for a chunk
 * takes what its modules import along. The backend of signatures stays alone: pages without WebCrypto load it later.
 */
function sharedChunks(): CodeSplittingGroup[] {
  const files = Object.entries(inputs('js'))
  const nameOf = (id: string, context: ChunkingContext, size: number) => {
    const needing = files.filter(([, file]) => neededBy(file, context).has(id)).map(([name]) => name)
    return needing.length === size ? `of-${needing.map((name) => name.charAt(0)).join('')}` : null
  }
  const groups = files.map((_, i): CodeSplittingGroup => ({
    name: (id, context) => nameOf(id, context, i + 1),
    debugName: `of ${i + 1} entries`,
    priority: i,
    minShareCount: 2,
    tags: ['$initial'],
  }))
  return [...groups, { name: 'noble', test: /crypto\/noble\.js$/, priority: files.length }]
}

async function write(options: InputOptions, output: OutputOptions): Promise<void> {
  const external = Object.keys(dependencies).map((name) => new RegExp(`^${name}(/|$)`))
  const bundle = await rolldown({ cwd: root, platform: 'neutral', external, logLevel: 'warn', ...options })
  await bundle.write({ dir: folder, format: 'esm', chunkFileNames: '[name].js', ...output })
  await bundle.close()
}

/** Values that bundlers leave out without a mark where they are not used. */
const pureByItself = /^new (?:Set|Map|WeakMap)\b/

rmSync(folder, { recursive: true, force: true })
await write({ input: inputs('js') }, { minify: true, codeSplitting: { groups: sharedChunks() } })
await write({ input: inputs('d.ts'), plugins: [dts({ dtsInput: true })] }, { minifyInternalExports: false })
for (const name of readdirSync(folder)) {
  const text = readFileSync(`${folder}/${name}`, 'utf8')
  writeFileSync(`${folder}/${name}`, name.endsWith('.d.ts') ? shortDeclarations(text) : withShortMarks(text))
}

/**
 * The code with the short form of the mark that a bundler leaves out what is not used, and without the marks in functions and classes, of
 * which a bundler leaves out the whole, and before empty or literal collections.
 */
function withShortMarks(text: string): string {
  const source = ts.createSourceFile('chunk.js', text, ts.ScriptTarget.ES2022, false)
  const bodies: (readonly [from: number, to: number])[] = []
  ts.forEachChild(source, function look(node) {
    if (ts.isFunctionLike(node) || ts.isClassLike(node)) bodies.push([node.pos, node.end])
    else ts.forEachChild(node, look)
  })
  return text.replaceAll('/* @__PURE__ */ ', (mark, at: number) => {
    const isNeeded = !pureByItself.test(text.slice(at + mark.length, at + mark.length + 20))
    if (isNeeded && !bodies.some(([from, to]) => from <= at && at < to)) return '/*@__PURE__*/'
    return /\w/.test(text[at - 1] ?? '') ? ' ' : ''
  })
}
