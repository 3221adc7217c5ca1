import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Scene } from '../../../../scripts/docs/scene.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { DataDirectory } from '../../../../src/ledger/storage/directory.js'
import { Workbench } from '../../../support/process/workbench.js'

const bench = new Workbench()
let pow: Scene
let devnet: Scene
let rest: string
beforeAll(async () => {
  ;[pow, devnet] = await Promise.all([Scene.open('pow'), Scene.open('devnet', 'another')])
  rest = `http://127.0.0.1:${pow.ports.rest}`
})
afterAll(async () => {
  await Promise.all([pow.close(), devnet.close()])
  bench.close()
})

const node = (...args: string[]) => bench.run('node', ...args, '--rest', rest)
const onDevnet = (...args: string[]) => bench.run('node', ...args, '--rest', `127.0.0.1:${devnet.ports.rest}`)

describe('node status', () => {
  it('shows chain, height, peers, pool and votes of a node that is ready', async () => {
    const { code, out, err } = await onDevnet('status')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^ {2}node {4}ready\n {2}chain {3}devnet, genesis 8932a845/)
    expect(out).toMatch(/\n {2}height {2}0 {2}8932a845/)
    expect(out).toMatch(/\n {2}tip .* old, 20\d\d-/)
    expect(out).toMatch(
      /\n {2}peers {3}0\n {2}pool {4}0 transactions\n {2}votes {3}height 1, view 0, 1 of 1 are needed; this node: yes/,
    )
    expect(out).toMatch(/\n {2}sync {4}in step with the chain/)
  })

  it('shows the same of a node that has nothing but genesis, which is not in step', async () => {
    const { code, out, err } = await node('status')
    expect([code, err]).toEqual([1, expect.stringContaining('no block has followed the genesis block here')])
    expect(out).toMatch(/^ {2}node {4}out of step: at height 0, .*\n {2}chain {3}pow, genesis /)
    expect(out).toMatch(/\n {2}sync {4}out of step with the chain/)
    expect(out).toMatch(/\n {2}peers {3}0\n/)
  })

  it('fails with the reason where the node is not ready', async () => {
    const url = await served((path) => {
      if (path === '/readyz')
        return { status: 503, body: { status: 'catching up', reason: 'at height 3 of 9\u001b[2J' } }
      return undefined
    }, pow.ports.rest)
    const { code, out, err } = await bench.run('node', 'status', '--rest', url)
    expect([code, err]).toEqual([1, `error: the node at ${url} is not ready: at height 3 of 9\\u001b[2J\n`])
    expect(out).toContain('node    catching up: at height 3 of 9\\u001b[2J')
  })

  it('names the interface of another port', async () => {
    for (const [port, name] of [
      [pow.ports.rpc, 'JSON-RPC'],
      [pow.ports.ws, 'WebSocket'],
    ] as const) {
      const { code, err } = await bench.run('node', 'status', '--rest', `http://127.0.0.1:${port}/api/v1`)
      expect(code).toBe(1)
      expect(err).toContain(`error: http://127.0.0.1:${port} is the ${name} port of a node; REST is `)
    }
    const { err } = await bench.run(
      'wallet',
      'balance',
      '--devnet-account',
      '0',
      '--rest',
      `127.0.0.1:${pow.ports.rpc}`,
    )
    expect(err).toContain(`is the JSON-RPC port of a node; REST is ${rest}\n`)
  })
})

describe('node call', () => {
  it('prints the result of a method as JSON', async () => {
    const { out } = await node('call', 'getblockhash', 'height=0')
    expect(JSON.parse(out)).toBe(pow.node.chain.genesis.hash)
    expect((await node('call', 'getblockhash', '0')).out).toBe(out)
    expect((await node('call', 'getblockhash', '[0]')).out).toBe(out)
  })

  it('is of the method "help" too, which has arguments and is no question about the command', async () => {
    expect(JSON.parse((await node('call', 'help')).out)).toContain('getblockhash')
    const { code, err } = await node('call', 'help', 'getblockhash')
    expect([code, err]).toEqual([1, expect.stringContaining('the node refused help: params: 1 given')])
  })

  it('gives code and text of an error', async () => {
    expect(await node('call', 'getblockhash', 'height=7')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: the node refused getblockhash: .+ \(-32004\)\n$/),
    })
    const { err } = await node('call', 'nonsense', '--json')
    expect(JSON.parse(err)).toMatchObject({ error: { code: -32601, reason: 'there is no method "nonsense"' } })
    expect(await node('call', 'getblockhash', 'height=1', '2')).toMatchObject({ code: 2 })
  })
})

describe('the token of the owner', () => {
  it('is found by itself for a node on this machine, and never printed', async () => {
    const answers = [await node('call', 'setloglevel', 'warn'), await node('bans')]
    expect(answers.map(({ code, out }) => [code, out])).toEqual([
      [0, '"warn"\n'],
      [0, 'no peer is banned\n'],
    ])
    const token = toHex(pow.node.adminToken)
    for (const { out, err } of answers) expect(out + err).not.toContain(token)
    expect((await bench.run('node', 'bans', '--rest', rest.replace('127.0.0.1', 'localhost'))).code).toBe(0)
  })

  it('comes from --data-dir and --token-file, where they have it', async () => {
    const { path } = pow.node.directory
    expect((await node('bans', '--data-dir', path)).code).toBe(0)
    expect((await node('bans', '--token-file', join(path, 'admin.token'))).code).toBe(0)
    expect((await bench.run('node', 'bans', '--data-dir', path)).code).toBe(0)
    const other = await node('bans', '--data-dir', devnet.node.directory.path)
    expect([other.code, other.err]).toEqual([
      1,
      expect.stringContaining(`${devnet.node.directory.path} does not have the token of the node at ${rest}`),
    ])
    expect((await node('bans', '--data-dir', bench.path('nowhere'))).code).toBe(1)
    const bad = bench.writeSecret('bad.token', 'x')
    expect((await node('bans', '--token-file', bad)).err).toContain('holds no admin token')
    const wrong = await node('bans', '--token-file', bench.writeSecret('wrong.token', '00'.repeat(32)))
    expect(wrong.err).toContain('-32010')
  })

  it('is not sent to a program that passes requests on, nor to one that names the directory of another node', async () => {
    const token = toHex(pow.node.adminToken)
    const heard: IncomingMessage[] = []
    // It passes on all but what is for the owner, which it would like to see with the token.
    const relay = await served((_, request) => {
      heard.push(request)
      return undefined
    }, pow.ports.rest)
    const { code, err } = await bench.run('node', 'stop', '--rest', relay)
    expect([code, err]).toEqual([1, expect.stringContaining('the token of the node at')])
    const liar = await served((_, request) => {
      heard.push(request)
      const result = { proof: '00'.repeat(32), datadir: pow.node.directory.path }
      return { status: 200, body: { jsonrpc: '2.0', id: 1, result } }
    })
    expect((await bench.run('node', 'stop', '--rest', liar)).code).toBe(1)
    expect(heard.length).toBeGreaterThan(2)
    for (const { headers } of heard) expect(JSON.stringify(headers)).not.toContain(token)
  })

  it('is not proved by a node that refuses, whose words are passed on', async () => {
    const refuses = await served(() => {
      const error = { code: -32601, message: 'Method not found', data: 'there is no method "provetoken"' }
      return { status: 200, body: { jsonrpc: '2.0', id: 1, error } }
    })
    const { code, err } = await bench.run('node', 'stop', '--rest', refuses)
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('which does not prove its token (there is no method "provetoken"): give the file'),
    ])
  })

  it('stops a node of which only the port was looked at: it then answers no more, which is all that is known', async () => {
    let asked = 0
    const stopping = await served((path) => {
      if (path === '/rpc') return { status: 200, body: { jsonrpc: '2.0', id: 1, result: true } }
      // Still there at first, and then what stands before it answers in its place.
      return ++asked < 3
        ? { status: 200, body: { Desc: 'Success', Error: 0, Result: 1 } }
        : { status: 502, body: 'Bad Gateway' }
    })
    const file = bench.writeSecret('some.token', 'ab'.repeat(32))
    const { code, out } = await bench.run('node', 'stop', '--rest', stopping, '--token-file', file)
    expect([code, out]).toEqual([0, `The node at ${stopping} was told to stop, and answers no more.\n`])
    expect(asked).toBe(3)
  })

  it.each([
    ['answers no more', { status: 502, body: 'Bad Gateway' }, 0, 'answers no more'],
    ['goes on', { status: 200, body: { Desc: 'Success', Error: 0, Result: 1 } }, 1, 'ECONNRESET'],
  ])('stops a node whose answer is cut, where that %s', async (_, answer, expected, said) => {
    const cut = await served((path, request) => {
      if (path === '/rpc') request.socket.resetAndDestroy()
      return answer
    })
    const file = bench.writeSecret('cut.token', 'ab'.repeat(32))
    const { code, out, err } = await bench.run('node', 'stop', '--rest', cut, '--token-file', file)
    expect([code, out + err]).toEqual([expected, expect.stringContaining(said)])
  })

  it('is asked for elsewhere where no node answers for the directory that is named', async () => {
    const here = bench.path('here')
    const stop = () => bench.run('node', 'stop', '--rest', 'http://127.0.0.1:1', '--data-dir', here)
    const none = await stop()
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringMatching(/127\.0\.0\.1:1\b.*, and no node has .*here open\n$/),
    ])
    await (await DataDirectory.open(here)).noteUnfinishedRuns(1)
    const { code, err } = await stop()
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /127\.0\.0\.1:1\b.*; if the node of .*here serves REST elsewhere, name that with --rest URL\n$/,
      ),
    ])
  })

  it('is sent to no other machine unasked', async () => {
    for (const url of ['http://127.example.org:20334', 'http://10.0.0.1:20334']) {
      const refused = await bench.run('node', 'stop', '--rest', url)
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('to no other machine unasked')])
    }
    const { code, err } = await bench.run('node', 'stop', '--rest', 'http://192.0.2.1:20334')
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/sent to no other machine unasked: give .* --token-file FILE\n$/),
    ])
  })
})

describe('node peers, bans and evidence', () => {
  it('are tables', async () => {
    expect((await node('peers')).out).toBe('no node is connected\n')
    expect((await node('evidence', '--height', '3')).out).toBe(
      'the node holds no evidence for height 3 of a validator that signed twice\n',
    )
    await pow.call('addban', { peer: '192.0.2.7', reason: 'by \u202ehand' })
    expect((await node('bans')).out).toMatch(/^peer +until +reason\n192\.0\.2\.7 +20\S+Z {2}by \?hand\n$/)
    const other = await Scene.open('pow', 'other')
    try {
      await pow.call('addpeer', { address: other.node.network?.transport.addresses[0] })
      const list = await bench.json<unknown[]>('node', 'peers', '--rest', rest)
      expect(list).toMatchObject([{ direction: 'outbound', height: 0 }])
      expect((await node('peers')).out).toMatch(
        /^id +address +direction +height +name\n\d+ +127\.0\.0\.1:\d+ +outbound/,
      )
    } finally {
      await other.close()
    }
  })
})

const servers: Server[] = []
afterAll(() => servers.forEach((server) => server.close().closeAllConnections()))

/** A server that answers by itself, or as the node at a port of this machine does. */
async function served(
  answer: (path: string, request: IncomingMessage) => { status: number; body: unknown } | undefined,
  port?: number,
): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      let text = ''
      for await (const part of request) text += String(part)
      const own = answer(request.url ?? '', request)
      const passed = own === undefined && port !== undefined ? await pass(port, request, text) : undefined
      const { status, body } = own ?? { status: passed?.status ?? 500, body: passed?.body }
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })()
  })
  servers.push(server)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function pass(port: number, { method = 'GET', url = '/' }: IncomingMessage, text: string) {
  const sent = method === 'POST' ? { body: text, headers: { 'content-type': 'application/json' } } : {}
  const answered = await fetch(`http://127.0.0.1:${port}${url}`, { method, ...sent })
  return { status: answered.status, body: (await answered.json()) as unknown }
}
