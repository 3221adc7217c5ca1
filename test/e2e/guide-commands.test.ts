import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiServer } from '../../src/answers/api/servers/node-server.js'
import { commandsOf, repositoryFile, tableRows } from '../support/assert/markdown.js'
import { TestChain } from '../support/builders/chain.js'
import { contextOf, serve } from '../support/client/api.js'
import { Copy } from '../support/guides/copy.js'

/** The commands of the guides that add nothing are run, and what the guides say of their output is looked for in it. */

const debug = repositoryFile('docs/guides/debug-a-node.md')
const replay = repositoryFile('docs/guides/replay-a-seed.md')

let copy: Copy
let node: TestChain
let server: ApiServer
beforeAll(async () => {
  copy = new Copy()
  node = await TestChain.open()
  server = await serve(contextOf(node))
})
afterAll(async () => {
  copy.remove()
  await server.close()
  await node.close()
})

/** The texts in code of a page. */
function spansOf(page: string): string[] {
  return [...page.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text)
}

/** A line of a trace by its form: numbers and digits of hashes differ from seed to seed. */
function formOf(line: string): RegExp {
  const escaped = line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(
    escaped.replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{8}\b/g, '[0-9a-f]{8}').replace(/(?<![\w{[-])\d+(?!})/g, '\\d+'),
    'm',
  )
}

describe('debug-a-node', () => {
  it('shows commands that find what they look for', async () => {
    const [find, status, ...others] = commandsOf(debug).map(({ command }) => command)
    expect(others).toEqual([])
    expect((await copy.shell(find as string)).trim().split('\n')).toHaveLength(1)
    const asked = (status as string).replace('20336', String(server.port))
    expect(asked).not.toBe(status)
    expect(JSON.parse(await copy.shell(asked))).toMatchObject({ result: { stage: expect.any(String), peers: [] } })
  })

  it('names messages of the log that there are', async () => {
    const messages = [...new Set(spansOf(debug).filter((text) => /^[a-z]+( [a-z]+){2,}$/.test(text)))]
    expect(messages.length).toBeGreaterThan(10)
    for (const message of messages) {
      expect([message, await copy.shell(`grep -rlF "${message}" src || true`)]).not.toEqual([message, ''])
    }
  })
})

describe('replay-a-seed', () => {
  it('shows commands whose output is what it says', async () => {
    const [print, follow, ...others] = commandsOf(replay).map(({ command }) => command)
    expect(others).toEqual([])
    await copy.shell(print as string)
    const trace = copy.read('seed-3.txt')
    expect(trace.split('\n').length).toBeGreaterThan(1_500)
    const lines = tableRows(replay.replace(/^ {3}\|/gm, '|')).map(([line = '']) => line.replaceAll('`', ''))
    expect(lines.length).toBeGreaterThan(5)
    expect(lines.filter((line) => !formOf(line).test(trace))).toEqual([])
    const ofDebug = spansOf(debug).filter((text) => / n\d > n\d|^n\d connects/.test(text))
    expect(ofDebug.length).toBeGreaterThan(3)
    expect(ofDebug.filter((line) => !formOf(line).test(trace))).toEqual([])
    expect(await copy.shell(follow as string)).toMatch(/n\d connects 16 /)
  })

  it('names options that the simulation has', () => {
    const options = [...replay.matchAll(/npm run (?:-s )?sim -- (.*)/g)].flatMap(
      ([, rest = '']) => rest.match(/--[a-z]+/g) ?? [],
    )
    expect(new Set(options).size).toBeGreaterThan(4)
    const declared = copy.read('scripts/sim.ts')
    expect(options.filter((name) => !declared.includes(`    ${name.slice(2)}: { type: `))).toEqual([])
  })
})
