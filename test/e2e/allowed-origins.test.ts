import { afterAll, expect, it } from 'vitest'
import { Directories, NodeProcess, run } from '../support/process/spawn.js'
import { writeFileSync } from 'node:fs'

const directories = new Directories()
afterAll(() => directories.remove())

const [first, second, third] = ['http://localhost:5173', 'http://localhost:8080', 'http://localhost:3000']

/** Asks as the page of an origin does; the error's text, or undefined. */
async function refusalFor(node: NodeProcess, origin: string): Promise<string | undefined> {
  const response = await fetch(`${node.line.rest}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-site' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'dev_mine', params: {} }),
  })
  const { error } = (await response.json()) as { error?: { data: string } }
  return error?.data
}

it('a devnet takes --allow-origin several times, and names it once in its log for another page', async () => {
  const node = await NodeProcess.start('devnet', '--allow-origin', first, '--allow-origin', second)
  expect(await refusalFor(node, first)).toBeUndefined()
  expect(await refusalFor(node, second)).toBeUndefined()
  for (let time = 0; time < 3; time++) expect(await refusalFor(node, third)).toContain(`--allow-origin ${third}`)
  const { code, err } = await node.stop()
  expect(code).toBe(0)
  expect(
    err.split('\n').filter((line) => line.includes(`--allow-origin ${third} lets it use this devnet`)),
  ).toHaveLength(1)
})

it('a devnet takes the origins from its configuration file', async () => {
  const file = `${directories.root}/devnet.json5`
  writeFileSync(file, `{ devnet: { allowOrigin: ['${first}'] } }`)
  const node = await NodeProcess.start('devnet', '--config', file)
  expect(await refusalFor(node, first)).toBeUndefined()
  expect(await refusalFor(node, second)).toContain(`--allow-origin ${second}`)
  await node.stop()
})

it.each([
  [['devnet', '--allow-origin', `${first}/`], /allow-origin.* not .*no slash at the end/i],
  [['devnet', '--allow-origin', '*'], /allow-origin.* not .*no \*/i],
  [
    ['devnet', '--nodes', '2', '--allow-origin', first],
    /devnet\.allowOrigin \(flag --allow-origin\) is for a devnet of one node/,
  ],
  [['start', '--genesis', 'pow', '--allow-origin', first], /unknown option '--allow-origin'/],
])('%j is refused at the start', async (args, message) => {
  const { code, err } = await run(...args)
  expect(code).toBe(2)
  expect(err).toMatch(message)
})
