import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { verifyWebhook } from '../../src/clients/watch/webhook-signature.js'
import type { DidMessage } from '../../src/clients/watch/watch-message.js'
import { commandsOf, fencedBlocks, repositoryFile } from '../support/assert/markdown.js'
import { portBase } from '../support/process/ports.js'
import { CommandProcess, Directories, NodeProcess, run } from '../support/process/spawn.js'

/** `didledger watch` as a process, against a devnet of its own process, with real webhooks and programs. */

const directories = new Directories()
const key = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
let devnet: NodeProcess
let folder: string

beforeAll(async () => {
  devnet = await NodeProcess.start('devnet')
  folder = directories.fresh('watch')
  mkdirSync(folder, { recursive: true })
})
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(async () => {
  await devnet?.stop()
  directories.remove()
})

interface Posted {
  readonly message: DidMessage
  readonly signed: boolean
}

/** A webhook that answers as it is told. */
class Receiver {
  readonly posted: Posted[] = []
  answer: (response: ServerResponse, count: number) => void = (response) => response.writeHead(204).end()
  #server: Server | undefined
  count = 0

  async open(): Promise<string> {
    this.#server = createServer((request, response) => void this.#take(request, response))
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve))
    closing.push(() => {
      this.#server?.closeAllConnections()
      this.#server?.close()
    })
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const bytes = Buffer.from(key.slice(6), 'base64')
    const signed = verifyWebhook(bytes, request.headers, body, Date.now() / 1000)
    this.posted.push({ message: JSON.parse(body) as DidMessage, signed })
    this.answer(response, ++this.count)
  }
}

const ada = devnetAccount(0).did
let years = 2

async function change(account: number, ...args: string[]): Promise<void> {
  const { code, err } = await run('did', ...args, '--devnet-account', String(account), '--rest', devnet.line.rest)
  // A busy machine takes its time for a block, which the command says.
  expect(code, err).toBe(0)
}

/** Updates a DID so that it differs from before. */
const update = (account = 0) => change(account, 'update', '--years', String((years = (years % 4) + 1)))

function watch(...args: string[]): CommandProcess {
  const command = new CommandProcess(['watch', '--node', devnet.line.rest, '--trust', 'devnet', ...args])
  closing.push(() => {
    command.kill('SIGKILL')
    return command.finished
  })
  return command
}

function file(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name)
  writeFileSync(path, text, { mode })
  chmodSync(path, mode)
  return path
}

/** Resolves once the watch has noted what is so now. */
async function began(state: string): Promise<void> {
  await expect.poll(() => existsSync(state) && readFileSync(state, 'utf8').includes(ada)).toBe(true)
}

describe('didledger watch', () => {
  it('posts each change, proved and signed, and ends at a signal', async () => {
    await change(0, 'create')
    const hook = new Receiver()
    const state = join(folder, 'one.json')
    const keyFile = file('hook.key', key)
    const command = watch(ada, '--webhook', await hook.open(), '--key-file', keyFile, '--state', state)
    await began(state)
    await update()
    await expect.poll(() => hook.posted.length).toBe(1)
    const [{ message, signed }] = hook.posted as [Posted]
    expect(signed).toBe(true)
    expect(message).toMatchObject({
      ...{
        format: 'didledger/watch/1',
        kind: 'did',
        action: 'apply',
        did: ada,
        operation: 'update',
        change: 'changes',
      },
      signedBy: '#primary',
      changed: [{ member: 'expires', change: 'changed' }],
      id: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    })
    const { height, blockHash } = message
    expect(blockHash).toBe(await devnet.hashAt(height))
    command.kill('SIGTERM')
    expect(await command.finished).toMatchObject({ code: 0 })
    // Nothing is told twice after a clean end.
    watch(ada, '--webhook', await hook.open(), '--key-file', keyFile, '--state', state)
    await update()
    await expect.poll(() => hook.posted.length).toBe(2)
    expect(hook.posted[1]?.message.txid).not.toBe(message.txid)
  })

  it('loses no message to kills at any moment, and repeats with equal ids', async () => {
    const hook = new Receiver()
    const url = await hook.open()
    const state = join(folder, 'killed.json')
    const args = [ada, '--webhook', url, '--key-file', file('killed.key', key), '--state', state]
    let command = watch(...args)
    await began(state)
    const rounds = 6
    for (let i = 0; i < rounds; i++) {
      // A kill while a message is posted, and before the state is written after it.
      hook.answer = (response) => {
        if (i % 2 === 0) command.kill('SIGKILL')
        response.writeHead(204).end()
      }
      await update()
      if (i % 2 === 0) await command.finished
      else {
        await sleep((i * 137) % 400)
        command.kill('SIGKILL')
        await command.finished
      }
      hook.answer = (response) => response.writeHead(204).end()
      command = watch(...args)
    }
    const txids = () => new Set(hook.posted.map(({ message }) => message.txid))
    await expect.poll(() => txids().size, { timeout: 40_000 }).toBe(rounds)
    const ids = new Map<string, string>()
    for (const { message } of hook.posted) {
      expect(ids.get(message.txid) ?? message.id).toBe(message.id)
      ids.set(message.txid, message.id)
    }
    expect(new Set(ids.values()).size).toBe(rounds)
  })

  it('tries again after errors, endless answers and redirects, and buries what is never taken', async () => {
    const hook = new Receiver()
    const url = await hook.open()
    hook.answer = (response, count) => {
      if (count === 1) response.writeHead(500).end()
      else if (count === 2) response.writeHead(302, { location: url }).end()
      else {
        // An answer without end: its status is all that is read.
        response.writeHead(200)
        const more = setInterval(() => response.write('x'.repeat(65_536)), 1)
        response.on('close', () => clearInterval(more)).on('error', () => {})
      }
    }
    const state = join(folder, 'again.json')
    const dead = join(folder, 'dead.jsonl')
    const shared = ['--key-file', file('again.key', key), '--state', state, '--dead-letters', dead]
    const command = watch(ada, '--webhook', url, ...shared)
    await began(state)
    await update()
    await expect.poll(() => hook.count, { timeout: 40_000 }).toBe(3)
    expect(new Set(hook.posted.map(({ message }) => message.id)).size).toBe(1)
    const { txid } = (hook.posted[0] as Posted).message
    await expect.poll(() => readFileSync(state, 'utf8')).toContain(txid)
    command.kill('SIGTERM')
    expect(await command.finished).toMatchObject({ code: 0 })
    hook.answer = (response) => response.writeHead(500).end()
    const stubborn = watch(ada, '--webhook', url, ...shared, '--give-up-after', '0')
    await update()
    await expect
      .poll(() => existsSync(dead) && readFileSync(dead, 'utf8').split('\n').length, { timeout: 40_000 })
      .toBe(2)
    const letter = JSON.parse(readFileSync(dead, 'utf8')) as { message: DidMessage; reason: string; attempts: number }
    expect(letter).toMatchObject({ attempts: 1, reason: expect.stringContaining('500') as string })
    stubborn.kill('SIGTERM')
    expect((await stubborn.finished).err).toContain('given up')
  })

  it('runs a program with the message on its input, and ends one that hangs', async () => {
    const heard = join(folder, 'heard')
    const state = join(folder, 'exec.json')
    const good = file(
      'good.sh',
      `#!/bin/sh\necho "$DIDLEDGER_OPERATION $DIDLEDGER_DID" >> ${heard}\ncat >> ${heard}\n`,
      0o700,
    )
    const command = watch(ada, '--exec', good, '--state', state)
    await began(state)
    await update()
    await expect.poll(() => existsSync(heard) && readFileSync(heard, 'utf8').includes('}\n')).toBe(true)
    const [line, json] = readFileSync(heard, 'utf8').split('\n') as [string, string]
    expect(line).toBe(`update ${ada}`)
    expect(JSON.parse(json)).toMatchObject({ did: ada, operation: 'update' })
    command.kill('SIGTERM')
    await command.finished
    const hanging = file('hang.sh', `#!/bin/sh\nsleep 1000 &\necho $! > ${heard}.pid\nwait\n`, 0o700)
    const hung = watch(ada, '--exec', hanging, '--exec-timeout', '1', '--state', state)
    await update()
    await expect.poll(() => hung.err).toContain('took longer than 1 s')
    const pid = Number(readFileSync(`${heard}.pid`, 'utf8'))
    await expect.poll(() => isRunning(pid)).toBe(false)
    hung.kill('SIGTERM')
    expect(await hung.finished).toMatchObject({ code: 0 })
  })

  it('tells of the documents that meet a condition, and what a devnet takes back', async () => {
    const state = join(folder, 'query.json')
    const command = watch('--query', '{service: {type: "Hub"}}', '--state', state, '--json')
    await expect.poll(() => existsSync(state)).toBe(true)
    const messages = () =>
      command.out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as DidMessage)
    const snapshot = await devnet.admin<number>('dev_snapshot')
    await change(1, 'create')
    await change(1, 'update', '--add-service', '#hub,Hub,https://hub.example')
    await expect.poll(() => messages().length).toBeGreaterThan(0)
    expect(messages()[0]).toMatchObject({ did: devnetAccount(1).did, change: 'begins', operation: 'update' })
    await change(1, 'deactivate')
    await expect.poll(() => messages().length).toBe(2)
    expect(messages()[1]).toMatchObject({ change: 'ceases', operation: 'deactivate' })
    await devnet.admin('dev_revert', { id: snapshot })
    await change(2, 'create')
    await expect.poll(() => messages().length, { timeout: 40_000 }).toBe(4)
    expect(messages().slice(2)).toMatchObject([
      { action: 'revert', operation: 'deactivate', txid: messages()[1]?.txid },
      { action: 'revert', operation: 'update', txid: messages()[0]?.txid },
    ])
    expect(new Set(messages().map(({ id }) => id)).size).toBe(4)
  })

  it('believes no node: tells a hint that no proof bears out, and finds what is withheld', async () => {
    const liar = await Liar.open(devnet.line.rest)
    const state = join(folder, 'liar.json')
    const args = [
      'watch',
      ada,
      '--node',
      liar.url,
      '--trust',
      'devnet',
      '--state',
      state,
      '--check-every',
      '2',
      '--json',
    ]
    const command = new CommandProcess(args)
    closing.push(() => command.kill('SIGKILL'))
    await began(state)
    const height = Number((await devnet.get('block/height')).body.Result)
    liar.say({ topic: 'documents', change: 'ceases', did: ada, operation: 'deactivate', txid: 'ab'.repeat(32), height })
    // A height that no block will have for long keeps nothing waiting.
    liar.say({
      topic: 'documents',
      change: 'changes',
      did: ada,
      operation: 'update',
      txid: 'ac'.repeat(32),
      height: 1e9,
    })
    liar.say({ topic: 'block', height: height + 1 })
    await expect.poll(() => command.err).toContain('the proofs show no such operation')
    expect(command.out).toBe('')
    await update()
    // The node says that the block has come, and nothing of the DID.
    liar.say({ topic: 'block', height: height + 9 })
    await expect.poll(() => command.out).toContain('"operation":"update"')
    expect(command.err).toContain('said nothing of')
    liar.end()
    await expect.poll(() => command.err).toContain('ended the connection')
  })

  it('goes on when a node is started again', async () => {
    const base = await portBase()
    const first = await NodeProcess.start('devnet', '--port-base', base)
    const state = join(folder, 'restart.json')
    const create = async (node: NodeProcess) => {
      expect(await run('did', 'create', '--devnet-account', '4', '--rest', node.line.rest)).toMatchObject({ code: 0 })
    }
    await create(first)
    const { did } = devnetAccount(4)
    const command = new CommandProcess([
      'watch',
      did,
      '--node',
      first.line.rest,
      '--trust',
      'devnet',
      '--state',
      state,
      '--json',
    ])
    closing.push(() => command.kill('SIGKILL'))
    await expect.poll(() => existsSync(state) && readFileSync(state, 'utf8').includes(did)).toBe(true)
    await first.stop()
    const second = await NodeProcess.start('devnet', '--port-base', base)
    closing.push(() => second.stop())
    await create(second)
    await expect.poll(() => command.out, { timeout: 40_000 }).toContain('"operation":"create"')
    command.kill('SIGTERM')
    expect(await command.finished).toMatchObject({ code: 0 })
  })

  it('refuses what cannot work at once', async () => {
    const some = ['--node', devnet.line.rest, '--trust', 'devnet']
    expect(await run('watch', ...some)).toMatchObject({ code: 2 })
    expect(await run('watch', ada, '--node', 'http://a..b', '--trust', 'devnet')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--node http://a..b: there is no host of the name a..b') as string,
    })
    for (const wrong of ['did:web:example.org', `${ada}x`]) {
      const refused = await run('watch', wrong, ...some)
      expect(refused, wrong).toMatchObject({
        code: 2,
        err: expect.stringContaining('Not a DID of this chain') as string,
      })
    }
    expect(await run('watch', ada, ...some, '--webhook', 'ftp://a.example/')).toMatchObject({ code: 2 })
    const weak = file('weak.key', 'secret')
    const { code, err } = await run('watch', ada, ...some, '--webhook', 'http://a.example/', '--key-file', weak)
    expect(code).toBe(1)
    expect(err).toContain('whsec_')
    const none = join(folder, 'none')
    for (const [args, status, text] of [
      [['--exec', none], 2, 'no file that may be run'],
      [['--exec', 'no-such-program'], 2, 'no such program in the folders of PATH'],
      [['--state', join(none, 'state')], 2, `there is no folder ${none}`],
      [['--dead-letters', join(none, 'dead')], 1, 'the dead letters cannot be written'],
      [['--exec', 'cat', '--exec', 'true'], 2, '--exec is given twice; run a watch for each'],
      [['--check-every', '0'], 2, 'Not a number of seconds'],
      [['--check-every', '2147484'], 2, 'Not a number of seconds'],
      [['--exec-timeout', '0'], 2, 'Not a number of seconds'],
    ] as const) {
      const refused = await run('watch', ada, ...some, ...args)
      expect([args, refused.code, refused.out]).toEqual([args, status, ''])
      expect(refused.err).toContain(text)
    }
  })

  it('has a state for itself: of its own chain, whole, and used by no other watch', async () => {
    const state = join(folder, 'shared.json')
    const { did } = devnetAccount(5)
    await change(5, 'create')
    const first = watch(did, '--state', state)
    await expect.poll(() => existsSync(state) && readFileSync(state, 'utf8').includes(did)).toBe(true)
    const second = await run('watch', did, '--node', devnet.line.rest, '--trust', 'devnet', '--state', state)
    expect([second.code, second.err]).toEqual([
      1,
      expect.stringContaining('another process is using the state of a watch in'),
    ])
    first.kill('SIGTERM')
    await first.finished
    const [kept, seen] = [readFileSync(state, 'utf8'), readFileSync(`${state}.light`, 'utf8')]
    const other = 'ab'.repeat(32)
    for (const [text, memory, message] of [
      [kept.slice(0, -9), seen, 'the state of the watch is damaged'],
      ['', seen, 'the state of the watch is damaged'],
      [kept.replace(/"chain":"[0-9a-f]*"/, `"chain":"${other}"`), seen, `of another chain, ${other}`],
      [kept, seen.slice(0, -9), `${state}.light cannot be used`],
      [kept, seen.replace(/"chain":"[0-9a-f]*"/, `"chain":"${other}"`), `${state}.light cannot be used: chain`],
    ] as const) {
      writeFileSync(state, text)
      writeFileSync(`${state}.light`, memory)
      const refused = await run('watch', did, '--node', devnet.line.rest, '--trust', 'devnet', '--state', state)
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(message)])
      expect([readFileSync(state, 'utf8'), readFileSync(`${state}.light`, 'utf8')]).toEqual([text, memory])
    }
    writeFileSync(state, kept)
    writeFileSync(`${state}.light`, seen)
    const again = watch(did, '--state', state)
    await update(5)
    await expect.poll(() => again.out, { timeout: 40_000 }).toContain('update')
  })
})

/** A node whose answers are those of another, and whose events are what a test says. */
class Liar {
  readonly #clients = new Set<WebSocket>()
  readonly url: string

  private constructor(port: number, sockets: WebSocketServer) {
    this.url = `http://127.0.0.1:${port}`
    sockets.on('connection', (client) => {
      this.#clients.add(client)
      client.on('message', () => {
        const result = { subscription: 1, number: 1, height: 0, hash: '00'.repeat(32) }
        client.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
      })
    })
  }

  static async open(honest: string): Promise<Liar> {
    const server = createServer((request, response) => void passOn(honest, request, response))
    const sockets = new WebSocketServer({ server })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return new Liar((server.address() as AddressInfo).port, sockets)
  }

  say(event: object): void {
    const block = { hash: 'cd'.repeat(32), previousblockhash: 'cd'.repeat(32), time: 1, transactions: 1 }
    const params = { subscription: 1, number: null, action: 'apply', ...block, blockhash: 'cd'.repeat(32), ...event }
    for (const client of this.#clients) client.send(JSON.stringify({ jsonrpc: '2.0', method: 'event', params }))
  }

  end(): void {
    for (const client of this.#clients) client.close()
  }
}

async function passOn(honest: string, request: IncomingMessage, response: ServerResponse) {
  const { method = 'GET', url = '/' } = request
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const answer = await fetch(honest + url, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(method === 'POST' && { body: Buffer.concat(chunks) }),
  })
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(Buffer.from(await answer.arrayBuffer()))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z')
  } catch {
    return false
  }
}

describe('docs/watch.md', () => {
  it('shows a receiver and a command that work together', async () => {
    const page = repositoryFile('docs/watch.md')
    const cwd = directories.fresh('recipe')
    mkdirSync(cwd, { recursive: true })
    const receiver = fencedBlocks(page).find(({ text }) => text.startsWith('// receive.mjs'))?.text
    const [making, , watching] = commandsOf(page).map(({ command }) => command)
    expect(making).toContain('whsec_')
    execFileSync('sh', ['-c', making as string], { cwd })
    const port = await free()
    const file = join(cwd, 'receive.mjs')
    writeFileSync(file, (receiver as string).replace('8080', String(port)))
    const child = spawn(process.execPath, [file], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
    closing.push(() => child.kill())
    let said = ''
    child.stdout.on('data', (chunk) => (said += String(chunk)))
    const line = (watching as string).replace('npx didledger ', '').replace('8080', String(port))
    const args = line.replace('http://127.0.0.1:20334', devnet.line.rest).split(' ')
    const command = new CommandProcess(args, { cwd })
    closing.push(() => command.kill('SIGKILL'))
    await began(join(cwd, 'watch.json'))
    await update()
    await expect.poll(() => said).toMatch(`update ${ada} `)
    // A body that is not signed by the key.
    const forged = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' })
    expect(forged.status).toBe(401)
  })
})

/** A port that is free now. */
async function free(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
