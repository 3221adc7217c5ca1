import { readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/**
 * node scripts/run.mjs SCRIPT [ARGUMENT ...]: runs a script of TypeScript as one bundled file. Where a script imports most of `src`,
 * tsx takes longer to load its thousand modules one by one than the script takes to run.
 */

const [script = '', ...args] = process.argv.slice(2)
const root = fileURLToPath(new URL('..', import.meta.url))
const outfile = `${root}node_modules/.cache/scripts/${script.replaceAll('/', '-')}.mjs`

/** Modules that look for files beside themselves look where their source is. */
const ownPlaces = {
  name: 'own-places',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.url')) return undefined
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)), loader: 'ts' }
    })
  },
}

await build({
  absWorkingDir: root,
  entryPoints: [script],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  packages: 'external',
  plugins: [ownPlaces],
  sourcemap: 'inline',
  logLevel: 'warning',
})
process.argv = [process.argv[0], script, ...args]
process.setSourceMapsEnabled(true)
await import(pathToFileURL(outfile).href)
