import { useEffect, useState } from 'preact/hooks'
import { fetchText, nodeUrl } from '../ask/node-rpc.js'
import type { SyncStatus } from '../ask/shapes.js'
import { useAnswer, useCall } from '../ask/use-answer.js'
import { Curve } from '../parts/curve.js'
import { useHistoryText } from '../parts/history.js'
import { Answered, Badge, Facts, Heading, Panel, Table } from '../parts/panel.js'
import { Plain } from '../parts/values.js'
import { type Figures, readFigures, sumOf } from '../text/metrics-text.js'
import { bytes, counted, whole } from '../text/numbers.js'
import { duration } from '../text/times.js'
import { PoolPanel } from './pool-panel.js'

/** The node itself: readiness, sync, peers, the pool, and what it costs its machine. */

/** Seconds between two looks. */
const pace = 2
/** Looks that are kept: ten minutes. */
const kept = 300

interface Look {
  readonly time: number
  readonly figures: Figures
}

export function NodePage() {
  const { looks, refused } = useLooks()
  const last = looks.at(-1)?.figures
  const curve = (name: string, scale = 1) => looks.map(({ figures }) => scaled(sumOf(figures, name), scale))
  const times = looks.map(({ time }) => time)
  return (
    <>
      <Heading kind="Node" />
      <div class="columns">
        <Readiness figures={last} />
        <PoolPanel figures={last} />
      </div>
      <Sync />
      <div class="columns">
        <Panel title="Memory">
          <Curve
            label="Now"
            times={times}
            format={bytes}
            series={[
              { label: 'resident', values: curve('process_resident_memory_bytes') },
              { label: 'JavaScript', values: curve('nodejs_heap_size_used_bytes') },
            ]}
          />
        </Panel>
        <Panel title="Event loop">
          <Curve
            label="Delay"
            times={times}
            format={(value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`}
            series={[
              { label: 'half below', values: curve('didledger_event_loop_delay_seconds{percentile="50"}', 1000) },
              { label: 'worst', values: curve('didledger_event_loop_delay_seconds{percentile="100"}', 1000) },
            ]}
          />
        </Panel>
        <Panel title="Processor">
          <Curve
            label="Use"
            times={times}
            format={(value) => `${value.toFixed(0)} %`}
            series={[{ label: 'of one core', values: rates(looks, 'process_cpu_seconds_total', 100) }]}
          />
        </Panel>
        <Panel title="Requests">
          <Curve
            label="In a second"
            times={times}
            format={(value) => value.toFixed(value < 10 ? 1 : 0)}
            series={[
              { label: 'HTTP', values: rates(looks, 'didledger_http_requests_total') },
              { label: 'JSON-RPC', values: rates(looks, 'didledger_rpc_calls_total') },
            ]}
          />
        </Panel>
      </div>
      {refused === undefined ? (
        <p class="quiet">
          Curves begin when this page is opened; <a href={nodeUrl('metrics').href}>/metrics</a> has all figures.
        </p>
      ) : (
        <p class="quiet">
          No curves: /metrics of this address answers {refused}. The node may keep its figures on a port of their own,
          or refuse them under this name.
        </p>
      )}
    </>
  )
}

function scaled(value: number | undefined, scale: number): number | null {
  return value === undefined ? null : value * scale
}

/** How much a counter rose in a second, from look to look. */
function rates(looks: readonly Look[], name: string, scale = 1): (number | null)[] {
  return looks.map(({ time, figures }, index) => {
    const before = looks[index - 1]
    const value = sumOf(figures, name)
    const earlier = before === undefined ? undefined : sumOf(before.figures, name)
    if (before === undefined || value === undefined || earlier === undefined || value < earlier) return null
    return ((value - earlier) / Math.max(0.1, time - before.time)) * scale
  })
}

/** The looks so far, and the HTTP status of a node that gives no figures at this address. */
function useLooks(): { readonly looks: readonly Look[]; readonly refused: number | undefined } {
  const [looks, setLooks] = useState<readonly Look[]>([])
  const answer = useAnswer(
    async (signal) => ({ time: Date.now() / 1000, ...(await fetchText(nodeUrl('metrics'), { signal })) }),
    ['metrics'],
    { every: 'once', seconds: pace },
  )
  const { value } = answer
  useEffect(() => {
    if (value?.status !== 200) return
    setLooks((before) => [...before, { time: value.time, figures: readFigures(value.text) }].slice(-kept))
  }, [value])
  return { looks, refused: value === undefined || value.status === 200 ? undefined : value.status }
}

function Readiness({ figures }: { figures: Figures | undefined }) {
  const answer = useAnswer(
    async (signal) => {
      const { status, text } = await fetchText(nodeUrl('readyz'), { signal })
      return { ready: status === 200, members: JSON.parse(text) as Readonly<Record<string, unknown>> }
    },
    ['ready'],
    { seconds: pace },
  )
  const figure = (name: string) => (figures === undefined ? undefined : sumOf(figures, name))
  const start = figure('process_start_time_seconds')
  const size = figure('didledger_database_size_bytes')
  return (
    <Panel title="State">
      <Answered answer={answer}>
        {({ ready, members }) => (
          <Facts
            rows={[
              [
                'State',
                <Badge tone={ready ? 'good' : 'bad'}>
                  {String(members['status'] ?? (ready ? 'ready' : 'not ready'))}
                </Badge>,
              ],
              ...Object.entries(members).flatMap(([name, value]) =>
                elsewhere.has(name) ? [] : [[titles[name] ?? name, <Plain text={textOf(value)} />] as const],
              ),
              ['Running for', start === undefined ? undefined : duration(Date.now() / 1000 - start)],
              ['Database', size === undefined ? undefined : bytes(size)],
            ]}
          />
        )}
      </Answered>
    </Panel>
  )
}

/** Members of the answer that this page shows in other places. */
const elsewhere: ReadonlySet<string> = new Set(['status', 'height', 'target', 'time'])
const titles: Readonly<Record<string, string>> = {
  reason: 'Because',
  refusedBlocks: 'Own blocks refused',
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function Sync() {
  const answer = useCall<SyncStatus>('getsyncstatus', {}, { seconds: pace })
  const history = useHistoryText()
  return (
    <Panel title="Sync and peers">
      <Answered answer={answer}>
        {(sync) => (
          <>
            <Facts
              rows={[
                [
                  'Stage',
                  sync.catchingup ? <Badge tone="warn">catching up</Badge> : <Badge tone="good">{sync.stage}</Badge>,
                ],
                ['Height', `${whole(sync.height)} of ${whole(sync.target)}`],
                ['History', history],
                ['Rate', sync.rate > 0 ? `${sync.rate} blocks a second` : undefined],
                ['Left', sync.secondsleft === null ? undefined : duration(sync.secondsleft)],
                ['Because', sync.reason === null ? undefined : <Plain text={sync.reason} />],
                ['Peers', counted(sync.peers.length, 'connection')],
              ]}
            />
            {sync.peers.length > 0 && (
              <Table
                caption="connected nodes"
                rows={sync.peers}
                keyOf={({ id }) => id}
                columns={[
                  ['Address', ({ address }) => <Plain text={address} />],
                  ['Height', ({ height }) => whole(height), 'number'],
                  ['Opened by', ({ external }) => (external ? 'the peer' : 'this node')],
                  [
                    'Name',
                    ({ name }) => (
                      <span class="code">
                        <Plain text={name} />
                      </span>
                    ),
                    'spare',
                  ],
                ]}
              />
            )}
          </>
        )}
      </Answered>
    </Panel>
  )
}
