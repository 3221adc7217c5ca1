import { afterAll, describe, expect, it } from 'vitest'
import { interfaceErrors } from '../../src/answers/api/http/error-mapping.js'
import { GatewayMetrics } from '../../src/answers/api/metrics/gateway-metrics.js'
import type { Code } from '../../src/base/errors/error-codes.js'
import { defaultPortBase, portOffsets } from '../../src/node/ports.js'
import { repositoryFile } from '../support/assert/markdown.js'
import { parseYaml } from '../support/assert/plain-yaml.js'
import { Workbench } from '../support/process/workbench.js'

const page = repositoryFile('docs/gateways.md')

/** A service of the compose file. */
interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly user?: string
  readonly volumes: readonly string[]
  readonly depends_on?: readonly string[]
}

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
  const { services, volumes } = parseYaml(repositoryFile(`${folder}compose.yml`)) as unknown as {
    services: Readonly<Record<string, Service>>
    volumes: Readonly<Record<string, unknown>>
  }
  const { primary, replica } = services as Readonly<Record<'primary' | 'replica', Service>>
  const given: Readonly<Record<string, string>> = {
    '/chain/chain.json': bench.spec,
    '${PEER:?the address of a peer}': '127.0.0.1:9',
  }
  const [rows, readRows] = ['didledger', 'didledger_read'].map((user) => `postgres://${user}@primary,replica/didledger`)
  const nameOf = (service: Service) => Object.keys(services).find((name) => services[name] === service)
  const gateways = Object.keys(services).filter((name) => name.startsWith('gateway-'))

  it.each<[string, object]>([
    ['node', { shipping: { shards: [rows] }, network: { peers: ['127.0.0.1:9'] } }],
    ...gateways.map(
      (name) => [name, { gateway: { shards: [readRows], nodes: ['http://node:20334'] } }] as [string, object],
    ),
  ])('starts %s with options that there are', async (name, settings) => {
    const command = (services[name]?.command ?? []).map((argument) => given[argument] ?? argument)
    const { code, out, err } = await bench.run(...command, '--print-config', '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject(settings)
  })

  it('names services alone in the URL of the rows, and no role that its script does not make', () => {
    const script = repositoryFile(`${folder}primary.sh`)
    for (const url of [rows, readRows]) {
      const [, user, hosts, database] = /^postgres:\/\/(\w+)@([\w,]+)\/(\w+)$/.exec(url ?? '') ?? []
      expect(script).toContain(`CREATE ROLE ${user} LOGIN;`)
      expect(hosts?.split(',')).toEqual([primary, replica].map(nameOf))
      expect(database).toBe(primary.environment?.['POSTGRES_DB'])
    }
    expect(script).toContain(`-d ${primary.environment?.['POSTGRES_DB']} <<`)
    expect(services['node']?.depends_on).toEqual(['primary', 'replica'])
  })

  it('has a replica that follows the primary by the role and the name that this one knows', () => {
    const script = repositoryFile(`${folder}primary.sh`)
    const [, host, user, name] =
      /^host=(\w+) user=(\w+) application_name=(\w+)$/.exec(replica.environment?.['PRIMARY'] ?? '') ?? []
    expect(host).toBe(nameOf(primary))
    expect(script).toContain(`CREATE ROLE ${user} LOGIN REPLICATION;`)
    expect(script).toContain(`host replication ${user} all trust`)
    expect(script).toContain(`SET synchronous_standby_names = '${name}'`)
    expect(replica.image).toBe(primary.image)
  })

  it('mounts the scripts where the image and the entrypoint look for them, and the data where they write', () => {
    expect(primary.volumes).toEqual([
      './primary.sh:/docker-entrypoint-initdb.d/primary.sh:ro',
      'primary:/var/lib/postgresql/data',
    ])
    expect(replica.volumes).toEqual(['./replica.sh:/replica.sh:ro', 'replica:/var/lib/postgresql/data'])
    expect(replica.entrypoint).toEqual(['sh', '/replica.sh'])
    expect(replica.environment?.['PGDATA']).toMatch(/^\/var\/lib\/postgresql\/data\/\w+$/)
    // PostgreSQL refuses to be root, and the entrypoint that changes the user is not this one.
    expect(replica.user).toBe('postgres')
    const named = Object.values(services).flatMap((service) => service.volumes.map((mount) => mount.split(':')[0]))
    expect(Object.keys(volumes).sort()).toEqual(named.filter((from) => !from?.startsWith('./')).sort())
  })

  it('is told of by the pages as it is', () => {
    expect(repositoryFile('docs/shipping.md')).toContain('`synchronous_commit = remote_write`')
    expect(repositoryFile(`${folder}primary.sh`)).toContain("SET synchronous_commit = 'remote_write'")
    for (const [, service] of page.matchAll(/^docker compose (?:exec|stop) (\w+)/gm)) {
      expect(Object.keys(services)).toContain(service)
    }
  })

  it('has its gateways behind a balancer that asks at their port', () => {
    const named = [...repositoryFile(`${folder}haproxy.cfg`).matchAll(/^ {2}server \S+ (\S+):(\d+)/gm)]
    const rest = String(defaultPortBase + portOffsets.rest)
    expect(named.map(([, host, port]) => [host, port])).toEqual(gateways.map((name) => [name, rest]))
  })

  it('has an image with the package of the engine', () => {
    const { devDependencies } = JSON.parse(repositoryFile('package.json')) as { devDependencies: object }
    const [install = ''] = /^RUN npm install .*\bpg@.*(?:\n.*)?$/m.exec(repositoryFile('docs/operate/Dockerfile')) ?? []
    expect(install).toContain("require.resolve('pg')")
    // As one that the tests need, it is left out with them: npm says "up to date" and installs nothing.
    if ('pg' in devDependencies) expect(install).toContain(' --save-prod --omit=dev ')
  })

  it('has the old primary follow the new one by next.yml', () => {
    const { services: next } = parseYaml(repositoryFile(`${folder}next.yml`)) as unknown as {
      services: { primary: Service }
    }
    const [host] = [replica, primary].map(nameOf)
    const { PRIMARY = '', PGDATA } = replica.environment ?? {}
    expect(Object.keys(next)).toEqual([nameOf(primary)])
    expect(next.primary).toEqual({
      user: replica.user,
      entrypoint: replica.entrypoint,
      environment: { PRIMARY: PRIMARY.replace(/^host=\w+/, `host=${host}`), PGDATA },
      volumes: [replica.volumes[0]],
    })
    // Compose keeps the volume of the service: the data lies below it.
    expect(PGDATA?.startsWith(`${primary.volumes[1]?.split(':')[1]}/`)).toBe(true)
    expect(page).toContain(`docker volume rm shipping_${primary.volumes[1]?.split(':')[0]}`)
  })
})
