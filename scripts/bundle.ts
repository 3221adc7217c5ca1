import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { buildMirrorPage } from './build-mirror-page.js'
import { buildPages } from './build-pages.js'
import { bundleChunks } from './bundle-chunks.js'
import { licencesOf } from './bundle-licences.js'

/**
 * Bundles the program into dist/cli: itself, and the packages it uses. Node then loads two files for a command and for a node, instead
 * of 1,744 (docs/decisions/0020-program-is-bundled.md).
 *
 * - src/program/cli/main.ts becomes program.js, a function in CommonJS, of which alone code can be kept: chunks in one script (bundle-chunks.ts).
 * - src/program/cli/bundled-main.ts becomes main.js, which runs program.js from compiled code.
 * - src/base/crypto/worker.ts, src/ledger/state/document-worker.ts and src/node/devnet/seed-worker.ts, which threads run, become worker.js and so on.
 * - Of level only the binary of the machine stays outside.
 * - src/explorer becomes dist/pages, which the REST port serves; src/explorer/mirror dist/mirror.html, which lies beside files of mirrors.
 *
 * dist/commit.txt holds the commit of the checkout, for --version; outside of one there is none.
 * The library stays modules.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}dist/cli`

/** LevelDB for this machine: its package is found below that of level, wherever npm has put both. */
const binaryOutside: Plugin = {
  name: 'binary-outside',
  setup: ({ onResolve, onLoad }) => {
    const namespace = 'binary'
    onResolve({ filter: /^\.\/binding$/ }, ({ path, resolveDir }) =>
      resolveDir.endsWith('/classic-level') ? { path, namespace } : undefined,
    )
    onLoad({ filter: /./, namespace }, () => ({
      contents: `const { createRequire } = require('node:module')
        const program = createRequire(urlOfThisFile)
        module.exports = createRequire(program.resolve('level'))('classic-level/binding.js')`,
    }))
  },
}

/** The parts of prom-client that the program imports: the others load TLS, clusters and OpenTelemetry. A further one fails the build. */
const metricsAlone: Plugin = {
  name: 'metrics-alone',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/prom-client\/index\.js$/ }, () => ({
      contents: ['Registry', 'Counter', 'Gauge', 'Histogram']
        .map((name) => `export { default as ${name} } from './lib/${name.toLowerCase()}.js'`)
        .join('\n'),
      resolveDir: `${root}node_modules/prom-client`,
    }))
  },
}

/** TLS, which ws names for clients of others and a node never needs: loaded when a member of it is read. */
const tlsWhenUsed: Plugin = {
  name: 'tls-when-used',
  setup: ({ onResolve, onLoad }) => {
    const namespace = 'when-used'
    onResolve({ filter: /^(https|tls)$/ }, ({ path, importer }) =>
      importer.includes('/node_modules/ws/') ? { path, namespace } : undefined,
    )
    onLoad({ filter: /./, namespace }, ({ path }) => ({
      contents: `module.exports = new Proxy({}, { get: (_, name) => require('node:${path}')[name] })`,
    }))
  },
}

const common = {
  absWorkingDir: root,
  // The bundle names modules by their way from here: never by a place of this machine, also where node_modules is a link.
  preserveSymlinks: true,
  outdir: folder,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  // Code that is kept cannot import: what is left of imports becomes `require`.
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': 'urlOfThisFile' },
  banner: { js: "const urlOfThisFile=require('node:url').pathToFileURL(__filename).href;" },
  // Names of functions stay, for stack traces.
  minifyWhitespace: true,
  sourcemap: 'linked',
  external: ['pg'],
  metafile: true,
  logLevel: 'warning',
  plugins: [binaryOutside, metricsAlone, tlsWhenUsed],
} satisfies BuildOptions

rmSync(folder, { recursive: true, force: true })
const program = await bundleChunks(
  { ...common, banner: {}, entryPoints: { program: `${root}src/program/cli/main.ts` } },
  {
    // The function that Node makes of a module: its text is then compiled as it was read, without a copy.
    banner: { js: `(function(exports,require,module,__filename,__dirname){${common.banner.js}` },
    footer: { js: '})' },
  },
)
const workers = await build({
  ...common,
  entryPoints: {
    worker: `${root}src/base/crypto/worker.ts`,
    'document-worker': `${root}src/ledger/state/document-worker.ts`,
    'seed-worker': `${root}src/node/devnet/seed-worker.ts`,
  },
})
const starter = await build({
  ...common,
  entryPoints: { main: `${root}src/program/cli/bundled-main.ts` },
  define: {
    ...common.define,
    programDigest: JSON.stringify(digestOf(`${folder}/program.js`)),
    leastNode: JSON.stringify(leastNode()),
  },
})
writeFileSync(`${folder}/package.json`, `${JSON.stringify({ type: 'commonjs' })}\n`)
chmodSync(`${folder}/main.js`, 0o755)

const commit = commitOfCheckout()
if (commit === undefined) rmSync(`${root}dist/commit.txt`, { force: true })
else writeFileSync(`${root}dist/commit.txt`, `${commit}\n`)

const inputs = [
  ...[program, workers.metafile, starter.metafile].flatMap(({ inputs }) => Object.keys(inputs)),
  ...[...(await buildPages()), ...(await buildMirrorPage())].map((file) => relative(root, file)),
]
writeFileSync(`${root}dist/THIRD-PARTY-LICENCES.txt`, licencesOf(inputs, root))

/** The least version of Node of package.json, without the sign before it. */
function leastNode(): string {
  const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { engines: { node: string } }
  return engines.node.replace(/^>=/, '')
}

/** SHA-256 of a file, hex. */
function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

/** The commit of this checkout; undefined where the package lies in a checkout of something else, or in none. */
function commitOfCheckout(): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    return git('rev-parse', '--show-prefix') === '' ? git('rev-parse', 'HEAD') : undefined
  } catch {
    return undefined
  }
}
