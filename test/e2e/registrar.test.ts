import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatPublicKey } from '../../src/base/crypto/key-forms.js'
import { quickSigner } from '../support/builders/signatures.js'
import { repositoryFile } from '../support/assert/markdown.js'
import { parseYaml } from '../support/assert/plain-yaml.js'
import { RegistrarUser } from '../support/client/registrar.js'
import { CommandProcess, NodeProcess, run } from '../support/process/spawn.js'

/** `didledger registrar` as a process. */

const token = 'token-of-the-first-client'
const directory = mkdtempSync(join(tmpdir(), 'didledger-registrar-'))
const file = join(directory, 'clients.json')
const fileOf = (clients: unknown, mode = 0o600) => writeFileSync(file, JSON.stringify(clients), { mode })

let node: NodeProcess
beforeAll(async () => {
  node = await NodeProcess.start('devnet')
})
afterAll(async () => {
  await node.stop()
  rmSync(directory, { recursive: true, force: true })
})

const command = () => ['registrar', '--devnet-account', '9', '--clients', file, '--rest', node.line.rest, '--port', '0']

async function registrar(): Promise<{ process: CommandProcess; port: number }> {
  const process = new CommandProcess([...command(), '--json'])
  const line = JSON.parse((await process.firstLine()) ?? 'null') as { listens: readonly string[] }
  return { process, port: Number(new URL(line.listens[0] ?? '').port) }
}

/** A DID registered by a client with new keys. */
async function create(port: number) {
  const one = new RegistrarUser(port, token, quickSigner())
  const method = { id: '#primary', publicKeyJwk: JSON.parse(formatPublicKey(one.key.publicKey, 'jwk')) as object }
  return one.finish('create', { didDocument: { verificationMethod: [method], authentication: ['#primary'] } })
}

describe('didledger registrar', () => {
  it('pays for DIDs up to a budget, which a restart does not fill again', async () => {
    fileOf({ clients: [{ name: 'app', token, budget: '0.00003', perMinute: 600 }] })
    const first = await registrar()
    expect((await create(first.port)).status).toBe(201)
    first.process.kill('SIGKILL')
    await first.process.finished
    const spent = JSON.parse(readFileSync(`${file}.spent`, 'utf8')) as Record<string, string>
    expect(Number(spent['app'])).toBeGreaterThan(0)
    const second = await registrar()
    const statuses: number[] = []
    while (statuses.at(-1) !== 403 && statuses.length < 40) statuses.push((await create(second.port)).status)
    expect(statuses.at(-1)).toBe(403)
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set([201]))
    second.process.kill('SIGTERM')
    expect(await second.process.finished).toMatchObject({ code: 0, err: '' })
    const all = JSON.parse(readFileSync(`${file}.spent`, 'utf8')) as Record<string, string>
    expect(Number(all['app'])).toBeLessThanOrEqual(0.00003)
  })

  it('spends the budgets of a file alone', async () => {
    fileOf({ clients: [{ name: 'app', token, budget: '1', perMinute: 600 }] })
    const first = await registrar()
    const second = await run(...command())
    expect([second.code, second.out]).toEqual([1, ''])
    expect(second.err).toContain(`another process is using what clients have spent in ${file}.spent; stop it first`)
    first.process.kill('SIGTERM')
    expect(await first.process.finished).toMatchObject({ code: 0, err: '' })
  })

  it('may start before its node, and says so, but not with a name that does not exist', async () => {
    fileOf({ clients: [{ name: 'app', token, budget: '1', perMinute: 600 }] })
    const at = (rest: string) => command().map((argument) => (argument === node.line.rest ? rest : argument))
    const process = new CommandProcess([...at('http://127.0.0.1:2'), '--json'])
    const line = JSON.parse((await process.firstLine()) ?? 'null') as { listens: readonly [string] }
    const [live, ready] = await Promise.all(['healthz', 'readyz'].map((path) => fetch(`${line.listens[0]}/${path}`)))
    expect([live?.status, ready?.status]).toEqual([200, 503])
    process.kill('SIGTERM')
    const { code, err } = await process.finished
    expect([code, err]).toEqual([0, expect.stringContaining('nothing is registered yet: no node listens at')])
    const wrong = await run(...at('http://a..b'))
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('there is no host of the name a..b') })
  })

  it('starts by the command of its compose file, and is healthy as that file asks', async () => {
    const { services, secrets } = parseYaml(repositoryFile('docs/operate/registrar/compose.yml')) as unknown as {
      services: {
        registrar: { command: string[]; healthcheck: { test: string[] }; ports: string[]; volumes: string[] }
      }
      secrets: Record<string, { file: string }>
    }
    const { command: given, healthcheck, ports, volumes } = services.registrar
    expect([Object.keys(secrets).sort(), volumes]).toEqual([['password', 'payer'], ['./clients:/clients']])
    fileOf({ clients: [{ name: 'app', token, budget: '1', perMinute: 600 }] })
    const [payer, password] = [join(directory, 'payer.json'), join(directory, 'password')]
    writeFileSync(password, 'correct horse', { mode: 0o600 })
    expect((await run('wallet', 'create', '--wallet', payer, '--password-file', password)).code).toBe(0)
    const here: Readonly<Record<string, string>> = {
      '${NODE:?the address of a node}': node.line.rest,
      '/run/secrets/payer': payer,
      '/run/secrets/password': password,
      '/clients/clients.json': file,
      '0.0.0.0': '127.0.0.1',
      '9081': '0',
    }
    const process = new CommandProcess([
      ...given.map((argument) => here[argument] ?? argument),
      '--port',
      '0',
      '--json',
    ])
    const line = JSON.parse((await process.firstLine()) ?? 'null') as Record<'listens' | 'metrics', [string]>
    const [, , port] = (ports[0] ?? '').split(':')
    const [, , , script = ''] = healthcheck.test
    expect(script).toContain(`:${port}/healthz`)
    const check = script.replace(`http://127.0.0.1:${port}`, line.listens[0])
    await promisify(execFile)('node', ['-e', check])
    const [health, ready, figures] = await Promise.all(
      [`${line.listens[0]}/healthz`, `${line.listens[0]}/readyz`, line.metrics[0]].map((url) => fetch(url)),
    )
    expect([health?.status, ready?.status, figures?.status]).toEqual([200, 200, 200])
    const page = repositoryFile('docs/registrar.md')
    const named = [...(await figures!.text()).matchAll(/^# TYPE (didledger_\w+)/gm)].map(([, name]) => name)
    expect(named.sort()).toEqual([...page.matchAll(/`(didledger_registrar_\w+)`/g)].map(([, name]) => name).sort())
    process.kill('SIGTERM')
    expect(await process.finished).toMatchObject({ code: 0, err: '' })
    await expect(promisify(execFile)('node', ['-e', check])).rejects.toMatchObject({ code: 1 })
  })

  it('is used as its page shows, by a program without coins', async () => {
    const page = readFileSync(new URL('../../docs/registrar.md', import.meta.url), 'utf8')
    const [, program = '', output = ''] = /```js\n([^]*?)```\n\n```text\n([^]*?)```/.exec(page) ?? []
    const client = join(directory, 'client.mjs')
    writeFileSync(client, program.replace('http://127.0.0.1:20334', node.line.rest))
    const { stdout } = await promisify(execFile)(process.execPath, [client])
    expect(stdout).toBe(output)
  })

  it.each<[string, unknown, number | undefined, string]>([
    ['that others may read', { clients: [] }, 0o644, 'chmod 600'],
    ['without clients', { clients: [] }, undefined, 'has 0 of them, not 1 to 1000'],
    [
      'with a short token',
      { clients: [{ name: 'a', token: 'short', budget: '1', perMinute: 1 }] },
      undefined,
      'a token has 16 to 512 characters',
    ],
    [
      'with a budget that is none',
      { clients: [{ name: 'a', token, budget: '-1', perMinute: 1 }] },
      undefined,
      'budget is no amount of coins',
    ],
    [
      'with a member too many',
      { clients: [{ name: 'a', token, budget: '1', perMinute: 1, more: 1 }] },
      undefined,
      'more is no option of clients[0]',
    ],
  ])('starts with no file %s', async (_, clients, mode, reason) => {
    rmSync(file, { force: true })
    fileOf(clients, mode)
    const { code, err } = await run(...command())
    expect([code, err]).toEqual([1, expect.stringContaining(reason)])
    expect(existsSync(`${directory}/none`)).toBe(false)
  })
})
