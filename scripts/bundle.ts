import { execFileSync } from 'node:child_process'
import { chmodSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions } from 'esbuild'
import { buildPages } from './build-pages.js'
import { licencesOf } from './bundle-licences.js'

/**
 * Bundles the program into dist/cli: itself, and the packages it uses. Node then loads a few files for a command and for a node,
 * instead of 1,744 (docs/decisions/0020-program-is-bundled.md).
 *
 * - src/program/cli/main.ts becomes main.js, src/base/crypto/worker.ts worker.js, which threads run; what only some commands need is a chunk.
 * - level stays outside: it loads the binary of its machine.
 * - src/explorer becomes dist/pages, which the REST port serves.
 *
 * dist/commit.txt holds the commit of the checkout, for --version; outside of one there is none.
 * The library stays modules.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}dist/cli`
// The bundle names modules of packages from here: never by a place of this machine, also where node_modules is a link.
const packagesRoot = dirname(realpathSync(`${root}node_modules`))

const common = {
  absWorkingDir: packagesRoot,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Names of functions stay, for stack traces.
  minifyWhitespace: true,
  sourcemap: 'linked',
  // Packages in CommonJS load modules of Node by `require`, which a file of ESM has not.
  banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

rmSync(folder, { recursive: true, force: true })
const program = await build({
  ...common,
  entryPoints: { main: `${root}src/program/cli/main.ts`, worker: `${root}src/base/crypto/worker.ts` },
  outdir: folder,
  splitting: true,
  external: ['level'],
})
chmodSync(`${folder}/main.js`, 0o755)

const commit = commitOfCheckout()
if (commit === undefined) rmSync(`${root}dist/commit.txt`, { force: true })
else writeFileSync(`${root}dist/commit.txt`, `${commit}\n`)

const inputs = [
  ...Object.keys(program.metafile.inputs),
  ...(await buildPages()).map((file) => relative(packagesRoot, file)),
]
writeFileSync(`${root}dist/THIRD-PARTY-LICENCES.txt`, licencesOf(inputs, packagesRoot))

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
