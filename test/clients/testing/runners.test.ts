import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { filesOf, repositoryFile } from '../../support/assert/markdown.js'
import { runTool, runToolWith } from '../../support/process/tool.js'

/** The recipes of docs/testing.md for runners of tests that are no dependencies; test/e2e/package.test.ts runs the other ones. */

const recipes = filesOf(repositoryFile('docs/testing.md'))
const folder = mkdtempSync(join(tmpdir(), 'didledger-runners-'))
symlinkSync(fileURLToPath(new URL('../node_modules', import.meta.url)), join(folder, 'node_modules'))
writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('Jest runs its recipe', async () => {
  writeFileSync(join(folder, 'ledger.jest.js'), recipes.get('ledger.jest.js') ?? '')
  const env = { NODE_OPTIONS: '--experimental-vm-modules' }
  const { err } = await runToolWith(env, folder, 'npx', 'jest', '--testMatch', '**/*.jest.js')
  expect(err).toMatch(/Tests: +1 passed, 1 total/)
})

const page = `<!doctype html><button>Mine</button><script type="module">
const node = new URLSearchParams(location.search).get('node')
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'dev_mine', params: {} })
document.querySelector('button').onclick = () =>
  fetch(node + '/rpc', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
</script>`

it('Playwright takes its recipe, and runs it where there is a browser', async () => {
  const app = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page))
  await new Promise<void>((resolve) => app.listen(0, 'localhost', resolve))
  const { port } = app.address() as AddressInfo
  const text = recipes.get('page.spec.js') ?? ''
  writeFileSync(join(folder, 'page.spec.js'), text.replaceAll('5173', String(port)))
  const browser = process.env['CHROMIUM']
  const use = { launchOptions: { executablePath: browser, args: ['--no-sandbox'] } }
  writeFileSync(join(folder, 'playwright.config.js'), `export default { use: ${JSON.stringify(use)} }`)
  const { out } = await runTool(folder, 'npx', 'playwright', 'test', ...(browser === undefined ? ['--list'] : []))
  expect(out).toMatch(browser === undefined ? /Total: 1 test in 1 file/ : /1 passed/)
  app.close()
})
