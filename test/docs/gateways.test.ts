import { afterAll, describe, expect, it } from 'vitest'
import { interfaceErrors } from '../../src/answers/api/http/error-mapping.js'
import { GatewayMetrics } from '../../src/answers/api/metrics/gateway-metrics.js'
import type { Code } from '../../src/base/errors/error-codes.js'
import { defaultPortBase, portOffsets } from '../../src/node/ports.js'
import { repositoryFile } from '../support/assert/markdown.js'
import { parseYaml } from '../support/assert/plain-yaml.js'
import { Workbench } from '../support/process/workbench.js'

const page = repositoryFile('docs/gateways.md')

it('docs/gateways.md has every figure that gateways alone have', () => {
  const metrics = new GatewayMetrics({} as never)
  const own = metrics.describe().filter(({ name }) => name.startsWith('didledger_gateway_'))
  metrics.close()
  const listed = [...page.matchAll(/`(didledger_gateway_\w+)`/g)].map(([, name]) => name)
  expect(listed.sort()).toEqual(own.map(({ name }) => name).sort())
})

it('docs/gateways.md has the numbers of its codes', () => {
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| (\d+), (-\d+) \|/gm)]
  expect(rows.length).toBeGreaterThan(4)
  for (const [, code, http, rpc] of rows) {
    expect([code, interfaceErrors[code as Code]]).toMatchObject([code, { http: Number(http), rpc: Number(rpc) }])
  }
})

describe('docs/operate/shipping/compose.yml', () => {
  const folder = 'docs/operate/shipping/'
  const bench = new Workbench()
  afterAll(() => bench.close())
  const { services } = parseYaml(repositoryFile(`${folder}compose.yml`)) as unknown as {
    services: Readonly<Record<string, { readonly command?: readonly string[] }>>
  }
  const given: Readonly<Record<string, string>> = {
    '/chain/chain.json': bench.spec,
    '${PEER:?the address of a peer}': '127.0.0.1:9',
  }
  const rows = 'postgres://postgres@postgres/didledger'
  const gateways = Object.keys(services).filter((name) => name.startsWith('gateway-'))

  it.each<[string, object]>([
    ['node', { shipping: { shards: [rows] }, network: { peers: ['127.0.0.1:9'] } }],
    ...gateways.map(
      (name) => [name, { gateway: { shards: [rows], nodes: ['http://node:20334'] } }] as [string, object],
    ),
  ])('starts %s with options that there are', async (name, settings) => {
    const command = (services[name]?.command ?? []).map((argument) => given[argument] ?? argument)
    const { code, out, err } = await bench.run(...command, '--print-config', '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject(settings)
  })

  it('has its gateways behind a balancer that asks at their port', () => {
    const named = [...repositoryFile(`${folder}haproxy.cfg`).matchAll(/^ {2}server \S+ (\S+):(\d+)/gm)]
    const rest = String(defaultPortBase + portOffsets.rest)
    expect(named.map(([, host, port]) => [host, port])).toEqual(gateways.map((name) => [name, rest]))
  })

  it('has an image with the package of the engine', () => {
    expect(repositoryFile('docs/operate/Dockerfile')).toMatch(/npm install .*\bpg@/)
  })
})
