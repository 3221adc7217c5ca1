import { describe, expect, it } from 'vitest'
import { baseUrl, otherInterface } from '../../../../src/clients/client/node-url.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'

describe('the URL of a node', () => {
  it.each([
    ['http://127.0.0.1:20334/api/v1', 'http://127.0.0.1:20334'],
    ['http://127.0.0.1:20334/api/v1/', 'http://127.0.0.1:20334'],
    ['http://127.0.0.1:20334//', 'http://127.0.0.1:20334'],
    ['127.0.0.1:20334', 'http://127.0.0.1:20334'],
    ['localhost:20334/api/v1', 'http://localhost:20334'],
    ['http://[::1]:20334/', 'http://[::1]:20334'],
    ['[::1]:20334', 'http://[::1]:20334'],
    ['node.example.org', 'http://node.example.org'],
    ['HTTPS://Node.Example.org/ledger/api/v1', 'https://node.example.org/ledger'],
    ['http://node.example.org/eid', 'http://node.example.org/eid'],
  ])('is taken as nodes print it: %s', (text, url) => {
    expect(baseUrl(text)).toBe(url)
  })

  it.each([
    ['ftp://x', 'not a URL of the form http://host:port: ftp://x'],
    ['', 'not a URL'],
    ['http://', 'not a URL'],
    ['http://alice:secret@127.0.0.1:20334', 'not a URL'],
    ['http://127.0.0.1:20334?x=1', 'not a URL'],
    ['http://127.0.0.1:70000', 'not a URL'],
    ['http:/127.0.0.1:20334', 'not a URL'],
    ['http//node.example.org', 'not a URL'],
    ['ws//127.0.0.1:20335', 'not a URL'],
    ['ws://127.0.0.1:20335', 'ws://127.0.0.1:20335 is a WebSocket address'],
  ])('is refused otherwise: %s', (text, message) => {
    expect(() => baseUrl(text)).toThrow(UserError)
    expect(() => baseUrl(text)).toThrow(message)
  })
})

describe('an answer of another interface', () => {
  const nowhere = 'http://127.0.0.1:1/api/v1/block/height'

  it('is told from the right one, and from what is no node', async () => {
    const rest = { status: 404, body: { Error: 42001, Desc: 'Invalid method', Result: '' } }
    expect(await otherInterface(nowhere, rest, 'REST')).toBeUndefined()
    for (const body of [undefined, [], 'text', { hello: 1 }]) {
      expect(await otherInterface(nowhere, { status: 200, body }, 'REST')).toBeUndefined()
    }
  })

  it('is named where the node does not tell its ports', async () => {
    const body = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid Request' } }
    for (const [status, name] of [
      [405, 'JSON-RPC'],
      [426, 'WebSocket'],
    ] as const) {
      expect((await otherInterface(nowhere, { status, body }, 'REST'))?.message).toBe(
        `http://127.0.0.1:1 is the ${name} port of a node; REST is at another port, which the node prints at its start`,
      )
    }
  })
})
