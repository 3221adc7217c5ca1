import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { portBase } from '../support/process/ports.js'
import { CommandProcess, NodeProcess, run, runJson } from '../support/process/spawn.js'

/** `didledger driver` as processes, started as the container file starts it; no container is needed. */

const repositoryFile = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const containerFile = repositoryFile('docs/operate/Dockerfile')
/** The stage that `--target driver` builds. */
const container = /^FROM program AS driver\n((?!FROM )[^]*?)^FROM /m.exec(containerFile)?.[1] ?? ''

/** The list of words in an instruction of the container file. */
function words(instruction: string): string[] {
  const [, list = '[]'] = new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(container) ?? []
  return JSON.parse(list) as string[]
}

/** What a driver prints with --json. */
interface DriverLine {
  readonly listens: readonly string[]
  readonly rpc: string
}

let node: NodeProcess
let did: string

beforeAll(async () => {
  node = await NodeProcess.start('devnet')
  const { did: created } = await runJson<{ did: string }>(
    ...['did', 'create', '--devnet-account', '2', '--rest', node.line.rest],
  )
  did = created
})
afterAll(() => node.stop())

/** Starts the command of the container on a free port of loopback; the node is named by the environment. */
async function drive(rpc: string): Promise<{ driver: CommandProcess; line: DriverLine; url: string }> {
  const [program, file, ...args] = words('ENTRYPOINT')
  expect([program, file]).toEqual(['node', 'dist/cli/main.js'])
  const driver = new CommandProcess([...args, '--port', '0', '--host', '127.0.0.1', '--json'], {
    env: { DIDLEDGER_RPC: rpc },
  })
  const line = JSON.parse((await driver.firstLine()) ?? 'null') as DriverLine
  return { driver, line, url: line.listens[0] as string }
}

describe('didledger driver', () => {
  it('resolves the DIDs of its node, is healthy, and stops cleanly', async () => {
    const { driver, line, url } = await drive(node.line.rpc)
    expect(line).toEqual({ listens: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)], rpc: node.line.rpc })
    const answers = await Promise.all(
      [url, node.line.rest].map(async (base) => {
        const response = await fetch(`${base}/1.0/identifiers/${did}`)
        return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
      }),
    )
    expect(answers[0]).toEqual(answers[1])
    expect(JSON.parse(answers[0]?.text ?? '')).toMatchObject({ didDocument: { id: did } })
    for (const path of ['healthz', 'readyz']) expect((await fetch(`${url}/${path}`)).status).toBe(200)
    const { code, err } = await run('node', 'status', '--rest', url)
    expect([code, err]).toEqual([1, expect.stringContaining(`${url} is no node, but a driver, `)])
    expect(err).toContain('says of itself that it is ready: name the node')
    const path = `${node.line.rest}/rpc`
    const below = `there is no node at ${path}, but one at ${node.line.rest}: leave the path out`
    expect((await run('node', 'status', '--rest', path)).err).toContain(below)
    // A connection that stays open does not keep it from its end.
    driver.kill('SIGTERM')
    expect(await driver.finished).toMatchObject({ code: 0, signal: null, err: '' })
  })

  it('answers for DIDs with a name as its node does, and by the status that the binding of HTTP has for each', async () => {
    const { driver, url } = await drive(node.line.rpc)
    const by = ['--devnet-account', '2', '--rest', node.line.rest]
    const answer = async (base: string, target: string) => {
      const response = await fetch(`${base}/1.0/identifiers/${target}`)
      return { status: response.status, text: await response.text() }
    }
    const both = async (target: string) => {
      const answers = await Promise.all([url, node.line.rest].map((base) => answer(base, target)))
      expect(answers[0]).toEqual(answers[1])
      return answers[0] as { status: number; text: string }
    }
    expect((await both('did:ledger:shop')).status).toBe(404)
    await runJson('did', 'name', 'create', 'shop', ...by)
    const taken = await both('did:ledger:shop')
    expect(taken.status).toBe(200)
    expect(JSON.parse(taken.text)).toMatchObject({ didDocument: { id: 'did:ledger:shop', controller: did } })
    // A client may encode the colons.
    expect(await both(encodeURIComponent('did:ledger:shop'))).toEqual(taken)
    for (const target of ['did:ledger:Shop', `did:ledger:${'x'.repeat(117)}`, 'did:ledger:-shop'])
      expect((await both(target)).status).toBe(400)
    await runJson('did', 'name', 'deactivate', 'shop', ...by)
    expect((await both('did:ledger:shop')).status).toBe(410)
    driver.kill('SIGTERM')
    await driver.finished
  })

  it('stays alive without its node, is not ready, and is ready again with it', async () => {
    const base = await portBase()
    const first = await NodeProcess.start('devnet', '--port-base', base)
    const { driver, url } = await drive(first.line.rpc)
    const statuses = async () => {
      const paths = ['healthz', 'readyz', `1.0/identifiers/${did}`]
      return Promise.all(paths.map(async (path) => (await fetch(`${url}/${path}`)).status))
    }
    expect(await statuses()).toEqual([200, 200, 404])
    await first.stop()
    expect(await statuses()).toEqual([200, 503, 503])
    const second = await NodeProcess.start('devnet', '--port-base', base)
    await expect.poll(statuses).toEqual([200, 200, 404])
    driver.kill('SIGINT')
    expect((await driver.finished).code).toBe(0)
    await second.stop()
  })

  it('is refused with what is wrong', async () => {
    const { driver, url } = await drive(node.line.rpc)
    const { port } = new URL(url)
    for (const [args, code, text] of [
      [
        ['--port', port, '--host', '127.0.0.1'],
        1,
        `port ${port} of 127.0.0.1 is in use; stop what listens there, or use --port N`,
      ],
      [['--port', '70000'], 2, 'Not a port'],
      [['--rpc', 'ftp://x', '--port', '0'], 2, 'not a URL'],
      [['--host', '192.0.2.1', '--port', '0'], 1, '192.0.2.1'],
    ] as const) {
      const finished = await run('driver', ...args)
      expect([finished.code, finished.out]).toEqual([code, ''])
      expect(finished.err).toContain(text)
    }
    driver.kill('SIGTERM')
    await driver.finished
  })
})

describe('the files of the driver', () => {
  it('start what there is, and check its health by itself', async () => {
    expect(words('ENTRYPOINT')).toEqual(
      expect.arrayContaining(['driver', '--port', /^EXPOSE (\d+)$/m.exec(container)?.[1] ?? '']),
    )
    const [program, flag, script = ''] = words('HEALTHCHECK CMD')
    expect([program, flag]).toEqual(['node', '-e'])
    expect(script).toContain('http://127.0.0.1:8080/healthz')
    // What it copies is what the package holds.
    for (const name of ['package.json', 'node_modules', 'dist']) expect(containerFile).toContain(`/app/${name} `)
  })

  it('name the method by a pattern that takes its DIDs and no others', () => {
    const entry = repositoryFile('docs/operate/universal-resolver.yml')
    const pattern = new RegExp(/pattern: '(.+)'/.exec(entry)?.[1] ?? '$^')
    expect(pattern.source).toBe('^did:ledger:.+$')
    expect(
      [did, 'did:ledger:shop', 'did:ledger:', 'did:other:x', 'xdid:ledger:x'].map((text) => pattern.test(text)),
    ).toEqual([true, true, false, false, false])
    expect(entry).not.toContain('testIdentifiers')
    expect(entry).toContain('url: http://driver-did-ledger:8080/')
  })
})
