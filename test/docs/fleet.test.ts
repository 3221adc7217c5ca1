import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { healthRoutes } from '../../src/answers/api/paths/health.js'
import { apiLimits } from '../../src/answers/api/api-limits.js'
import { defaultPortBase, portOffsets } from '../../src/node/ports.js'
import { repositoryFile } from '../support/assert/markdown.js'
import { parseYaml } from '../support/assert/plain-yaml.js'
import { Workbench } from '../support/process/workbench.js'

/** The samples of docs/operate/fleet, held against the program, and against the balancers where they are installed. */

interface Service {
  readonly image: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly command?: readonly string[]
  readonly volumes: readonly string[]
  readonly ports?: readonly string[]
  readonly depends_on?: readonly string[]
}

/** All that a service of the file has, of what the Compose specification knows. */
const members = 'image build command volumes ports depends_on restart stop_grace_period'.split(' ')

const folder = 'docs/operate/fleet/'
const bench = new Workbench()
afterAll(() => bench.close())
const { services, volumes } = parseYaml(repositoryFile(`${folder}compose.yml`)) as unknown as {
  services: Readonly<Record<string, Service>>
  volumes: Readonly<Record<string, unknown>>
}
const followers = Object.entries(services).filter(([name]) => name.startsWith('follower-'))
const rest = defaultPortBase + portOffsets.rest
const balancer = services['balancer'] as Service
/** The variable that the owner sets. */
const followed = '${FOLLOW:?the URL of the node to follow}'

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

  it('listens at the port that the compose file opens', () => {
    const ports = [...text.matchAll(/^(?: +bind | +listen )?:?(\d+)(?:;| \{)?$/gm)].map(([, port]) => port)
    expect(balancer.ports?.map((port) => port.split(':').at(-1))).toEqual(ports)
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
        [followed]: 'http://127.0.0.1:9',
      }
      const known = args.map((argument) => given[argument] ?? argument)
      const { code, out, err } = await bench.run('start', ...known, '--print-config', '--json')
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(JSON.parse(out)).toMatchObject({ network: { follow: 'http://127.0.0.1:9' }, api: { drain: 5 } })
      expect(more).toMatchObject({ stop_grace_period: '15s' })
    },
  )

  it('asks for nothing but the node to follow', () => {
    const asked = [...repositoryFile(`${folder}compose.yml`).matchAll(/\$\{[^}]*\}/g)].map(([text]) => text)
    expect(asked).toEqual(followers.map(() => followed))
  })

  it('has services of members that Compose knows, each in the network in which the others are named', () => {
    expect(Object.keys(services)).toEqual(['follower-1', 'follower-2', 'balancer'])
    for (const service of Object.values(services)) {
      expect(Object.keys(service).filter((member) => !members.includes(member))).toEqual([])
    }
    expect(balancer.depends_on).toEqual(followers.map(([name]) => name))
  })

  it('mounts what there is where it is read, and opens one port to this machine alone', () => {
    const files = readdirSync(new URL(`../../${folder}`, import.meta.url))
    for (const mount of Object.values(services).flatMap((service) => service.volumes)) {
      const [from = ''] = mount.split(':')
      if (!from.startsWith('./')) expect(Object.keys(volumes)).toContain(from)
      else if (from !== './chain.json') expect(files).toContain(from.slice(2))
    }
    for (const [, { command = [], volumes: mounts }] of followers) {
      const places = mounts.map((mount) => mount.split(':')[1])
      expect(places).toEqual([optionIn(command, '--genesis'), optionIn(command, '--data-dir')])
    }
    // Two nodes cannot share a directory.
    expect(followers.map(([, service]) => service.volumes[1])).toEqual(['data-1:/data', 'data-2:/data'])
    expect(Object.values(services).flatMap(({ ports = [] }) => ports)).toEqual(['127.0.0.1:8080:8080'])
  })
})

describe('the image of the followers', () => {
  const [first] = followers.map(([, service]) => service)
  const { context = '', dockerfile = '' } = first?.build ?? {}
  const root = new URL(`../../${folder}${context}/`, import.meta.url)
  const image = readFileSync(new URL(dockerfile, root), 'utf8')
  // What is built when no other stage is asked for.
  const last = image.slice(image.lastIndexOf('\nFROM '))

  it('is made of this repository, and is one', () => {
    expect(root.href).toBe(new URL('../../', import.meta.url).href)
    expect(followers.map(([, { build, image: name }]) => ({ build, image: name }))).toEqual(
      followers.map(() => ({ build: first?.build, image: first?.image })),
    )
  })

  it('runs the program, whose ports it names, and asks it for a path that there is', () => {
    const { bin } = JSON.parse(repositoryFile('package.json')) as { bin: { didledger: string } }
    expect(last).toContain(`ENTRYPOINT ["node", "${bin.didledger}"]`)
    const { metrics: _, ...offsets } = portOffsets
    const ports = Object.values(offsets).map((offset) => defaultPortBase + offset)
    expect(last).toContain(`EXPOSE ${ports.join(' ')}\n`)
    const [, port, path] = /HEALTHCHECK.*http:\/\/127\.0\.0\.1:(\d+)(\/\w+)/.exec(last) ?? []
    expect(Number(port)).toBe(rest)
    expect(healthRoutes.map((route) => route.path)).toContain(path)
  })

  it('has the directory of the data, which its user may write', () => {
    expect(last).toMatch(/mkdir \/data && chown node:node \/data.*\n(?:.*\n)*USER node\n(?:.*\n)*VOLUME \/data\n/)
  })
})

/** The value of an option in a list of arguments. */
function optionIn(args: readonly string[], name: string): string | undefined {
  return args[args.indexOf(name) + 1]
}
