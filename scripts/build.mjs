// Compiles src into dist, and makes `npx didledger` work inside a clone: npm links the commands of dependencies, but
// not those of the package it stands in.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)

rmSync('dist', { recursive: true, force: true })
const compiled = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'scripts/config/tsconfig.build.json'], {
  stdio: 'inherit',
})
if (compiled.status !== 0) process.exit(1)

chmodSync('dist/cli/main.js', 0o755)
if (existsSync('node_modules/.bin')) {
  rmSync('node_modules/.bin/didledger', { force: true })
  symlinkSync('../../dist/cli/main.js', 'node_modules/.bin/didledger')
}
