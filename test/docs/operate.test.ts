import { existsSync, readdirSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Scene } from '../../scripts/docs/scene.js'
import { badStates, warningMetrics } from '../../src/answers/api/metrics/readiness.js'
import { portOffsets, defaultPortBase } from '../../src/node/ports.js'
import { ResourceStack } from '../../src/base/runtime/resource-stack.js'
import { shipBacklog } from '../../src/ledger/shipping/shipping-options.js'
import { repositoryFile, section } from '../support/assert/markdown.js'
import { parseYaml, type Yaml } from '../support/assert/plain-yaml.js'
import { type Family, parseMetrics, sampleOf } from '../support/assert/prometheus.js'
import { type Expression, firesAt, parseQuery } from '../support/assert/promql.js'
import { oneValidator, TestChain } from '../support/builders/chain.js'
import { LedgerEngine } from '../support/fakes/ledger-engine.js'
import { gatewayOver } from '../support/network/gateways.js'
import { Workbench } from '../support/process/workbench.js'

/** What lies in docs/operate, held against a node and against the program. */

type Members = { readonly [name: string]: Yaml }
const folder = 'docs/operate/'
const yaml = <T>(name: string) => parseYaml(repositoryFile(`${folder}${name}`)) as T
const compose = yaml<{ services: Record<string, Members>; volumes: Members; secrets: Members }>('compose.yml')
const prometheus = yaml<{
  rule_files: string[]
  scrape_configs: { static_configs: { targets: string[]; labels: Members }[]; metrics_path: string; job_name: string }[]
}>('prometheus.yml')
const { groups } = yaml<{
  groups: { rules: { alert: string; expr: string; for: string; labels: Members; annotations: Members }[] }[]
}>('alerts.yml')
const rules = groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(repositoryFile(`${folder}grafana/dashboard.json`)) as {
  panels: {
    id: number
    title: string
    gridPos: Record<'x' | 'y' | 'w' | 'h', number>
    datasource: { uid: string }
    targets: { refId: string; expr: string }[]
  }[]
}
const datasources = yaml<{ datasources: { uid: string; url: string }[] }>('grafana/datasource.yml').datasources
const [scrape] = prometheus.scrape_configs
const [targets] = scrape!.static_configs

/** Labels that Prometheus, and the file that says what it asks, add to every metric. */
const added = ['instance', 'job', ...Object.keys(targets!.labels)]

let scene: Scene
let families: Map<string, Family>
let ofGateway: Map<string, Family>
const below = new ResourceStack()
beforeAll(async () => {
  scene = await Scene.open('localnet')
  below.defer(() => scene.close())
  families = await figuresAt(scene.ports)
  const chain = await TestChain.open(oneValidator())
  below.defer(() => chain.close())
  await chain.mine()
  const gateway = await gatewayOver(chain, new LedgerEngine(chain, 1))
  below.defer(() => gateway.close())
  ofGateway = await figuresAt(gateway.ports)
})
afterAll(() => below.close())

/** The figures that are served, once there was a request of each kind: those with labels come with the first. */
async function figuresAt({ rest, rpc }: { readonly rest: number; readonly rpc: number }): Promise<Map<string, Family>> {
  await fetch(`http://127.0.0.1:${rest}/api/v1/block/height`)
  await fetch(`http://127.0.0.1:${rpc}`, { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"getblockcount"}' })
  const response = await fetch(`http://127.0.0.1:${rest}${scrape!.metrics_path}`)
  return parseMetrics(await response.text())
}

/** The labels of a metric of a node, or else of a gateway; undefined if there is no such metric. */
function labelsOf(name: string): Set<string> | undefined {
  for (const served of [families, ofGateway]) {
    const family = served.get(name) ?? served.get(name.replace(/_(bucket|sum|count)$/, ''))
    const samples = family?.samples.filter((sample) => sample.name === name) ?? []
    if (samples.length > 0) return new Set(samples.flatMap((sample) => Object.keys(sample.labels)))
  }
  return undefined
}

function check({ selectors, grouped }: Expression): void {
  const known = new Set(added)
  for (const { name, labels } of selectors) {
    if (name === 'up') continue
    const own = labelsOf(name)
    expect(own, `${name} is no metric of a node or a gateway`).toBeDefined()
    for (const label of labels) expect([...added, ...own!], `a label of ${name}`).toContain(label)
    for (const label of own!) known.add(label)
  }
  for (const label of grouped) expect([...known]).toContain(label)
}

describe('the alerts', () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s asks for what there is', (name, rule) => {
    expect(name).toMatch(/^Didledger[A-Za-z]+$/)
    const expression = parseQuery(rule.expr)
    expect(expression.selectors.length).toBeGreaterThan(0)
    check(expression)
    expect(rule.for).toMatch(/^\d+m$/)
    expect(['warning', 'critical']).toContain(rule.labels['severity'])
    const [page = '', anchor = ''] = (rule.annotations['runbook'] as string).split('#')
    const headings = [...repositoryFile(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
    expect(headings).toContain(anchor)
  })

  it('tell of an outbox that fills before it is full', () => {
    const [bytes] = rules.flatMap(({ expr }) => /^didledger_ship_outbox_bytes > ([\de]+)$/.exec(expr)?.[1] ?? [])
    expect(Number(bytes) / shipBacklog).toBeGreaterThan(0.4)
    expect(Number(bytes) / shipBacklog).toBeLessThan(0.6)
  })

  it('are named by docs/monitoring.md as they are, beside the figures that they ask for', () => {
    const rows = [...repositoryFile('docs/monitoring.md').matchAll(/^\| .*\| (.*) \| `(Didledger\w+)` \|$/gm)]
    expect(rows.length).toBeGreaterThan(4)
    for (const [, text = '', name] of rows) {
      const [asked] = parseQuery(rules.find(({ alert }) => alert === name)?.expr ?? '').selectors
      expect(text).toContain(asked?.name)
    }
  })

  it('have names of their own', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  })
})

describe('each state in which /readyz is bad', () => {
  /** Alerts on a metric alone, by whether they fire at a value. */
  const alertsAt = (metric: string, value: number) =>
    rules.filter(({ expr }) => firesAt(expr, metric, value) === true).map(({ alert }) => alert)
  /** Those that the node itself tells only after it has waited, or that are beyond doubt. */
  const atOnce: readonly string[] = ['failed', 'alarm', 'stalled']

  it.each(Object.entries(badStates))('%s is served as a metric, which raises an alert', (status, state) => {
    const { metric, value } = state
    // The chain of the scene has no block yet, so that its node is not in step.
    expect(sampleOf(families, metric), metric).toBe(status === 'out of step' ? value : 1 - value)
    const alerts = alertsAt(metric, value)
    expect(alerts, `alerts on ${metric}`).not.toEqual([])
    expect(alertsAt(metric, 1 - value)).toEqual([])
    const delays = rules.filter(({ alert }) => alerts.includes(alert)).map((rule) => parseInt(rule.for, 10))
    expect(Math.min(...delays)).toBeLessThanOrEqual(atOnce.includes(status) ? 0 : 5)
  })

  it('has a metric of its own', () => {
    const names = Object.values(badStates).map(({ metric }) => metric)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each([40, -40])('a clock that is wrong by %i s raises an alert within a minute', (offset) => {
    expect(sampleOf(families, warningMetrics.clock)).toBe(0)
    const [alert] = alertsAt(warningMetrics.clock, offset)
    expect(alertsAt(warningMetrics.clock, 0)).toEqual([])
    expect(parseInt(rules.find((rule) => rule.alert === alert)?.for ?? '', 10)).toBeLessThanOrEqual(1)
  })

  it('is told within a minute of the figure where the node has waited: scrape and evaluation are short', () => {
    const { global } = yaml<{ global: { scrape_interval: string; evaluation_interval: string } }>('prometheus.yml')
    const seconds = [global.scrape_interval, global.evaluation_interval].map((text) => /^(\d+)s$/.exec(text)?.[1])
    expect(Number(seconds[0]) + Number(seconds[1])).toBeLessThanOrEqual(30)
  })

  it('a disk is the one of the data directory', async () => {
    const { bavail, blocks, bsize } = await statfs(scene.node.directory.path)
    expect(sampleOf(families, 'didledger_disk_size_bytes')).toBe(blocks * bsize)
    const free = sampleOf(families, 'didledger_disk_free_bytes') as number
    // Others write meanwhile.
    expect(Math.abs(free - bavail * bsize)).toBeLessThan(0.1 * blocks * bsize)
    expect(free).toBeLessThan(blocks * bsize)
  })

  it('a disk that is nearly full raises alerts: by bytes, by its size and by its pace', () => {
    const named = (...names: readonly string[]) =>
      rules.filter(({ expr }) => {
        const { selectors } = parseQuery(expr)
        return names.every((name) => selectors.some((selector) => selector.name === name))
      })
    expect(alertsAt('didledger_disk_free_bytes', 1e6)).toHaveLength(1)
    expect(alertsAt('didledger_disk_free_bytes', NaN)).toEqual([])
    expect(named('didledger_disk_free_bytes', 'didledger_disk_size_bytes')).toHaveLength(1)
    expect(rules.filter(({ expr }) => expr.includes('deriv(didledger_disk_free_bytes['))).toHaveLength(1)
  })
})

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

describe('the dashboard', () => {
  const queries = dashboard.panels.flatMap(({ title, targets: asked }) =>
    asked.map(({ expr }) => [title, expr] as const),
  )

  it.each(queries)('%s: %s', (_, expr) => check(parseQuery(expr)))

  it('shows every figure that a node or a gateway has, but for those of a moment', () => {
    const shown = new Set(
      [...queries.map(([, expr]) => expr), ...rules.map(({ expr }) => expr)].flatMap((expr) =>
        parseQuery(expr).selectors.map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')),
      ),
    )
    const left = [...new Set([...families.keys(), ...ofGateway.keys()])].filter(
      (name) => name.startsWith('didledger_') && !shown.has(name),
    )
    expect(left.sort()).toEqual([
      'didledger_build_info',
      'didledger_chain_joined_height_blocks',
      'didledger_chain_pruned_height_blocks',
      'didledger_chain_superseded_height_blocks',
      'didledger_chain_verified_height_blocks',
      'didledger_ship_sequence_batches',
      'didledger_ship_waiting_shards',
      'didledger_transactions_received_total',
    ])
  })

  it('has panels side by side, and its datasource', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = new Set<string>()
    for (const {
      gridPos: { x, y, w, h },
      datasource,
    } of dashboard.panels) {
      expect(x + w).toBeLessThanOrEqual(24)
      expect(datasources.map(({ uid }) => uid)).toContain(datasource.uid)
      for (let i = x; i < x + w; i++)
        for (let j = y; j < y + h; j++) {
          expect(cells).not.toContain(`${i},${j}`)
          cells.add(`${i},${j}`)
        }
    }
  })
})

describe('a query that is not right', () => {
  it.each([
    'rate(a_total[5m]',
    'rate(a_total)',
    'rate(a_total[5])',
    'a_total[5m] > 1',
    'sum by job (a)',
    'a{b=c}',
    'a{b="c"',
    'a{b=~"("}',
    'nosuch(a)',
    'a >',
    'a b',
    'histogram_quantile(0.5)',
    'a and on b',
    '',
  ])('%s is noticed', (text) => {
    expect(() => parseQuery(text)).toThrow()
  })

  it('names what is no metric or label of a node', () => {
    expect(() => check(parseQuery('didledger_no_such_figure > 1'))).toThrow(/no metric/)
    expect(() => check(parseQuery('didledger_chain_height_blocks{colour="red"}'))).toThrow(/a label/)
    expect(() => check(parseQuery('sum by (colour) (didledger_chain_height_blocks)'))).toThrow()
  })
})

/** Whether a file below docs/operate, or all of its folder, is out of commits, packages and the context of an image. */
function leavesOut(path: string): boolean {
  const places = path.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'))
  const lines = (name: string) => repositoryFile(`${folder}${name}`).split('\n')
  const has = (ignored: readonly string[], prefix: string) => places.some((place) => ignored.includes(prefix + place))
  return has(lines('.gitignore'), '') && has(lines('Dockerfile.dockerignore'), folder)
}

describe.each(['compose.yml', 'fleet/compose.yml', 'shipping/compose.yml', 'registrar/compose.yml'])('%s', (name) => {
  const text = repositoryFile(`${folder}${name}`)
  const sample = yaml<{ services: Record<string, Members>; secrets?: Record<string, { file: string }> }>(name)
  const place = name.slice(0, -'compose.yml'.length)
  const variables = [...new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, variable = '']) => variable))]

  it('leaves what its owner puts beside it out of images, commits and packages', () => {
    const mounts = Object.values(sample.services).flatMap(({ volumes = [] }) => volumes as string[])
    const files = [...mounts, ...Object.values(sample.secrets ?? {}).map(({ file }) => file)].flatMap(
      (mount) => /^\.\/([^:]+)/.exec(mount)?.[1] ?? [],
    )
    const own = files.filter((file) => !existsSync(new URL(`../../${folder}${place}${file}`, import.meta.url)))
    expect(own.length).toBeGreaterThan(0)
    for (const file of [...own, ...(variables.length > 0 ? ['.env'] : [])]) {
      expect(leavesOut(place + file), file).toBe(true)
    }
  })

  it('gets its variables from a file, which every command of Compose reads, and not from one command', () => {
    const page = repositoryFile(`docs/${{ '': 'operate', 'shipping/': 'gateways' }[place] ?? place.slice(0, -1)}.md`)
    for (const steps of [text, page]) {
      expect(steps).toContain('docker compose up -d --build')
      expect(steps).not.toMatch(/\w=\S+ docker compose/)
      for (const variable of variables) expect(steps).toMatch(new RegExp(`echo ${variable}=\\S+ > \\.env\\b`))
    }
  })
})

describe('the containers', () => {
  const validators = Object.entries(compose.services).filter(([name]) => name.startsWith('validator-'))
  const bench = new Workbench()
  afterAll(() => bench.close())

  it.each(validators)('%s is started with options that there are', async (name, service) => {
    const [command, ...args] = service['command'] as string[]
    expect(command).toBe('start')
    const known = args.map((argument) => (argument === '/chain/corp.json' ? bench.spec : argument))
    const { code, out, err } = await bench.run('start', ...known, '--print-config', '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const peers = (JSON.parse(out) as { network: { peers: string[] } }).network.peers
    const others = validators.map(([other]) => `${other}:${defaultPortBase + portOffsets.p2p}`)
    expect([...peers, `${name}:${defaultPortBase + portOffsets.p2p}`].sort()).toEqual(others.sort())
    expect(service['secrets']).toEqual([name])
    expect(service['volumes']).toContain(`data-${name.slice(-1)}:/data`)
  })

  it('are four, each asked by Prometheus at the port of REST', () => {
    const wanted = validators.map(([name]) => `${name}:${defaultPortBase + portOffsets.rest}`)
    expect(wanted).toHaveLength(4)
    expect(targets!.targets).toEqual(wanted)
  })

  it('mount what there is, or is made before, and name each volume and secret', () => {
    for (const service of Object.values(compose.services)) {
      for (const mount of (service['volumes'] as string[] | undefined) ?? []) {
        const [from = ''] = mount.split(':')
        if (!from.startsWith('./')) expect(Object.keys(compose.volumes)).toContain(from)
        else if (!from.startsWith('./corp/'))
          expect(existsSync(new URL(`../../${folder}${from}`, import.meta.url))).toBe(true)
      }
      for (const secret of (service['secrets'] as string[] | undefined) ?? []) {
        expect(Object.keys(compose.secrets)).toContain(secret)
      }
    }
    const mounted = (compose.services['prometheus']?.['volumes'] as string[]).map((mount) => mount.split(':')[1])
    expect(mounted).toEqual(expect.arrayContaining(prometheus.rule_files))
    expect(datasources[0]?.url).toBe('http://prometheus:9090')
  })

  it('open nothing to other machines but what is asked for', () => {
    const ports = Object.values(compose.services).flatMap((service) => (service['ports'] as string[] | undefined) ?? [])
    expect(ports.length).toBeGreaterThan(0)
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/)
  })

  it('leave keys and backups that lie beside the compose file out of images, commits and packages', () => {
    const made = [...repositoryFile('docs/operate.md').matchAll(/genesis create (corp)|- \.\/(backup):/g)]
    const folders = made.map(([, chain, backup]) => chain ?? backup ?? '')
    expect(new Set(folders)).toEqual(new Set(['corp', 'backup']))
    for (const name of folders) expect(leavesOut(name)).toBe(true)
  })

  it('are built of files that there are', () => {
    const text = repositoryFile(`${folder}Dockerfile`)
    const copied = [...text.matchAll(/^COPY --from=build \/app\/(\S+)/gm)].map(([, name]) => name)
    expect(copied).toEqual(['package.json', 'node_modules', 'dist', 'genesis'])
    // What is built without --target is the last stage: a node.
    const stage = text.slice(text.lastIndexOf('\nFROM '))
    expect(stage).toMatch(/^ENTRYPOINT \["node", "dist\/cli\/main\.js"\]$/m)
    expect(stage).toMatch(/^USER node\n[^]*^VOLUME \/data$/m)
    const { bin } = JSON.parse(repositoryFile('package.json')) as { bin: { didledger: string } }
    expect(bin.didledger).toBe('dist/cli/main.js')
  })
})

describe('docs/operate.md', () => {
  const remedies = section(repositoryFile('docs/operate.md'), 'What to do when')

  it('knows twenty symptoms', () => {
    expect([...remedies.matchAll(/^### /gm)].length).toBeGreaterThanOrEqual(20)
  })

  it('quotes messages as the program prints them', () => {
    const source = sourceText('src')
    const quoted = [...remedies.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replaceAll('\n', ' '))
    const fragments = quoted
      .filter((text) => / [a-z]/.test(text) && !command.test(text))
      .flatMap((text) => text.split('…').map((fragment) => fragment.trim()))
      .filter((fragment) => fragment.length >= 8)
    expect(fragments.length).toBeGreaterThan(25)
    for (const fragment of fragments) expect(source.includes(fragment), fragment).toBe(true)
  })
})

/** What begins like this is no message of the program. */
const command = /^(didledger|ls |JavaScript heap|journalctl|systemctl|fuser|smartctl|chown|ulimit|Watchdog|code=|\/)/

/** All sources of a folder, with texts that are put together over lines as one. */
function sourceText(path: string): string {
  const root = new URL(`../../${path}/`, import.meta.url)
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const text = names.map((name) => repositoryFile(`${path}/${name}`)).join('\n')
  return text.replace(/['`] \+\n\s*['`]/g, '')
}

describe('the unit of systemd', () => {
  const lines = repositoryFile(`${folder}didledger.service`)
    .split('\n')
    .filter((line) => line !== '' && !/^# /.test(line))

  it('has sections and settings', () => {
    for (const line of lines) expect(line).toMatch(/^(\[(Unit|Service|Install)\]|#?[A-Z][A-Za-z]+=.*)$/)
    expect(lines).toEqual(expect.arrayContaining(['Type=notify', 'NotifyAccess=all', 'WatchdogSec=60']))
  })

  it('starts the program as it is installed', () => {
    const start = lines.find((line) => line.startsWith('ExecStart=')) as string
    expect(start).toMatch(/ \/opt\/didledger\/node_modules\/didledger\/dist\/cli\/main\.js start --config \S+$/)
    const [, variable] = /^#Environment=(\w+)=/m.exec(lines.join('\n')) ?? []
    expect(repositoryFile('docs/configuration.md')).toContain(`\`${variable}\``)
  })
})
