import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { followedNode } from '../../../src/node/followed-node.js'
import { namedChain, nodeOfChain } from '../../support/fakes/named-chain.js'

const { genesis } = namedChain

const warned: string[] = []
const log = { warn: (_: unknown, text?: string) => void warned.push(text ?? '') } as Parameters<typeof followedNode>[2]
let server: Server | undefined
afterEach(() => {
  server?.close()
  warned.length = 0
})

/** The URL of a node that answers so. */
async function node(body: string, told = genesis): Promise<string> {
  const answer: RequestListener = (_, response) => response.setHeader('connection', 'close').end(body)
  const made = createServer(nodeOfChain(told, answer))
  server = made
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`
}

describe('followedNode', () => {
  it('finds the REST port of a peer at the usual distance', async () => {
    expect(await followedNode('192.0.2.7:20338', genesis, log)).toEqual({
      peer: '192.0.2.7:20338',
      api: 'http://192.0.2.7:20334',
    })
    const peer = '/ip6/::1/tcp/5008'
    expect(await followedNode(peer, genesis, log)).toEqual({ peer, api: 'http://[::1]:5004' })
    expect(await followedNode('/dns4/a.example/tcp/9', genesis, log)).toMatchObject({ api: 'http://a.example:5' })
  })

  it('refuses a peer whose REST port would be none', async () => {
    await expect(followedNode('192.0.2.7:4', genesis, log)).rejects.toMatchObject({ exitCode: 2 })
    expect(await followedNode('192.0.2.7:5', genesis, log)).toMatchObject({ api: 'http://192.0.2.7:1' })
  })

  it('takes the port for peers that a node names', async () => {
    const api = await node('{"Result":{"Port":777}}')
    expect(await followedNode(`${api}/api/v1/`, genesis, log)).toEqual({ peer: '127.0.0.1:777', api })
  })

  it.each(['', 'null', '[]', '{}', '{"Result":{"Port":0}}', '{"Result":{"Port":65536}}', '{"Result":{"Port":"7"}}'])(
    'refuses an answer without a port: %s',
    async (body) => {
      await expect(followedNode(await node(body), genesis, log)).rejects.toThrow('names no port for peers')
    },
  )

  it('refuses a node of another chain, by both', async () => {
    const told = 'ab'.repeat(32)
    const api = await node('{"Result":{"Port":777}}', told)
    await expect(followedNode(api, genesis, log)).rejects.toMatchObject({
      ...{ name: 'UserError', exitCode: 2 },
      message: `the node to follow at ${api}: it is of another chain, with genesis block ${told}, and not ${genesis}; name a node of this chain, or the spec of that one`,
    })
  })

  it('takes a node that does not say of which chain it is: it is asked before anything is passed on', async () => {
    const api = await node('{"Result":{"Port":777}}', 'soon')
    expect(await followedNode(api, genesis, log)).toEqual({ peer: '127.0.0.1:777', api })
  })

  it('looks for peers at the usual port of a node that does not answer now', async () => {
    expect(await followedNode('http://127.0.0.1:9', genesis, log)).toEqual({
      peer: '127.0.0.1:13',
      api: 'http://127.0.0.1:9',
    })
    expect(warned).toEqual(['the node to follow does not answer; its peers are looked for at the usual port'])
    await expect(followedNode('http://127.0.0.1', genesis, log)).rejects.toThrow('cannot reach the node to follow')
  })
})
