import { chmodSync, realpathSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/**
 * Bundles the program into dist/cli: itself, and the packages it uses. Node then loads a few files for a command and for a node,
 * instead of 1,744 (docs/decisions/0020-program-is-bundled.md).
 *
 * - src/cli/main.ts becomes main.js, src/crypto/worker.ts worker.js, which threads run; what only some commands need is a chunk.
 * - Files that the program finds from its own place (package.json, genesis) are two folders up from there, as they are from src/cli.
 * - classic-level stays outside: it loads the binary of its machine.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}dist/cli`

rmSync(folder, { recursive: true, force: true })
await build({
  // The bundle names modules of packages from here: never by a place of this machine, also where node_modules is a link.
  absWorkingDir: dirname(realpathSync(`${root}node_modules`)),
  entryPoints: { main: `${root}src/cli/main.ts`, worker: `${root}src/crypto/worker.ts` },
  outdir: folder,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: ['classic-level'],
  // Names of functions stay, for stack traces.
  minifyWhitespace: true,
  sourcemap: 'linked',
  // Packages in CommonJS load modules of Node by `require`, which a file of ESM has not.
  banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
  logLevel: 'warning',
})
chmodSync(`${folder}/main.js`, 0o755)
