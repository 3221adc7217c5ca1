import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { healthRoutes } from '../../src/answers/api/paths/health.js'
import { apiLimits } from '../../src/answers/api/api-limits.js'
import { defaultPortBase, portOffsets } from '../../src/node/ports.js'
import { repositoryFile } from '../support/assert/markdown.js'
import { parseYaml } from '../support/assert/plain-yaml.js'
import { Workbench } from '../support/process/workbench.js'

/** The samples of docs/operate/fleet, held against the program, and against the balancers where they are installed. */

interface Service {
  readonly command?: readonly string[]
  readonly volumes: readonly string[]
  readonly ports?: readonly string[]
}

const folder = 'docs/operate/fleet/'
const bench = new Workbench()
afterAll(() => bench.close())
const { services, volumes } = parseYaml(repositoryFile(`${folder}compose.yml`)) as unknown as {
  services: Readonly<Record<string, Service>>
  volumes: Readonly<Record<string, unknown>>
}
const followers = Object.entries(services).filter(([name]) => name.startsWith('follower-'))
const rest = defaultPortBase + portOffsets.rest

/** Balancers: how each checks its file. */
const checks: Readonly<Record<string, (file: string) => readonly [command: string, ...args: string[]]>> = {
  'haproxy.cfg': (file) => ['haproxy', '-c', '-f', file],
  'nginx.conf': (file) => ['nginx', '-t', '-c', file],
  Caddyfile: (file) => ['caddy', 'validate', '--adapter', 'caddyfile', '--config', file],
}
const asking = ['haproxy.cfg', 'Caddyfile']

describe.each(Object.entries(checks))('%s', (name, check) => {
  const text = repositoryFile(folder + name)

  it('names the followers of the compose file at the port of REST, and lets no figures through', () => {
    const named = [...text.matchAll(/(follower-\d+):(\d+)/g)].map(([, host, port]) => [host, Number(port)])
    expect(named).toEqual(followers.map(([host]) => [host, rest]))
    expect(text).toContain('/metrics')
  })

  it('asks for a path that there is, with a parameter that it has, where it can ask', () => {
    const [, path, parameter = ''] = /(\/readyz)\?(\w+)=\d+/.exec(text) ?? []
    expect(path !== undefined).toBe(asking.includes(name))
    if (path === undefined) return
    expect(healthRoutes.find((route) => route.path === path)?.query).toHaveProperty(parameter)
  })

  it('waits for longer than a node waits for a block', () => {
    const [, seconds] = /timeout server +(\d+)s/.exec(text) ?? []
    if (seconds !== undefined) expect(Number(seconds) * 1000).toBeGreaterThan(apiLimits.heightWait)
  })

  const [command] = check('')
  // Where it is not, .ci/run says so.
  if (spawnSync(command, ['-v']).error !== undefined) return
  it('is a file that the balancer takes', () => {
    // The names are those of containers.
    const file = bench.write(name, text.replaceAll(/follower-\d+:/g, '127.0.0.1:'))
    const [, ...args] = check(file)
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
    expect(status, stdout + stderr).toBe(0)
  })
})

describe('the compose file', () => {
  it.each(followers)(
    '%s is started with options that there are',
    async (_, { command: [start, ...args] = [], ...more }) => {
      expect(start).toBe('start')
      const given: Readonly<Record<string, string>> = {
        '/chain/chain.json': bench.spec,
        '${FOLLOW}': 'http://127.0.0.1:9',
      }
      const known = args.map((argument) => given[argument] ?? argument)
      const { code, out, err } = await bench.run('start', ...known, '--print-config', '--json')
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(JSON.parse(out)).toMatchObject({ network: { follow: 'http://127.0.0.1:9' }, api: { drain: 5 } })
      expect(more).toMatchObject({ stop_grace_period: '15s' })
    },
  )

  it('mounts what there is, and opens one port to this machine alone', () => {
    const files = readdirSync(new URL(`../../${folder}`, import.meta.url))
    for (const mount of Object.values(services).flatMap((service) => service.volumes)) {
      const [from = ''] = mount.split(':')
      if (!from.startsWith('./')) expect(Object.keys(volumes)).toContain(from)
      else if (from !== './chain.json') expect(files).toContain(from.slice(2))
    }
    expect(Object.values(services).flatMap(({ ports = [] }) => ports)).toEqual(['127.0.0.1:8080:8080'])
  })
})
