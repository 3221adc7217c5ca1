import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { answerTo } from '../../../scripts/requests/exchange.js'
import { oddRequests } from '../../../scripts/requests/odd-requests.js'

const described = { paths: ['/api/v1/block/{height}', '/readyz'], methods: ['getinfo'], values: ['1'] }
const textOf = ({ portions }: { readonly portions: readonly Buffer[] }) => Buffer.concat(portions).toString('latin1')

describe('odd requests', () => {
  it('are the same ones of each seed', () => {
    expect(oddRequests(described, 1, 200)).toEqual(oddRequests(described, 1, 200))
    expect(oddRequests(described, 1, 20).map(textOf)).not.toEqual(oddRequests(described, 2, 20).map(textOf))
  })

  it('are of all kinds', () => {
    const requests = oddRequests(described, 1, 2000)
    const kinds = [
      / HTTP\/1\.0\r/,
      /chunked/,
      /^HEAD /,
      /^FOO /,
      /"jsonrpc"/,
      /\r\n\r\n(GET|POST) /,
      /\{"method":"\\ud800/,
      /%ff/,
      /a{5000}/,
    ]
    for (const kind of kinds)
      expect({ kind, some: requests.some((one) => kind.test(textOf(one))) }).toEqual({ kind, some: true })
    expect(requests.filter(({ portions }) => portions.length > 1).length).toBeGreaterThan(100)
    expect(requests.filter(({ ends }) => ends).length).toBeGreaterThan(100)
  })

  it('are compared by what a server says, but for moments', async () => {
    let time = 5
    const serve = async (answer: () => string): Promise<[Server, number]> => {
      const server = createServer((_, response) => response.end(answer()))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return [server, (server.address() as AddressInfo).port]
    }
    const [[one, rest], [two, rpc]] = [
      await serve(() => `{"age":${(time *= 10)}}`),
      await serve(() => '{"age":1,"b":2}'),
    ]
    const bytes = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const ask = (port: 'rest' | 'rpc') =>
      answerTo({ port, portions: [bytes.subarray(0, 9), bytes.subarray(9)], pause: 1, ends: false }, { rest, rpc })
    const said = [await ask('rest'), await ask('rest'), await ask('rpc')]
    expect(said[0]).toContain('{"age":0}')
    expect([said[1] === said[0], said[2] === said[0]]).toEqual([true, false])
    for (const server of [one, two]) server.close()
  })
})
