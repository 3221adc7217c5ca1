import { ask } from '../ask/node-rpc.js'
import { useCoin } from '../ask/chain-names.js'
import type { CountedDay, DayList } from '../ask/shapes.js'
import { useAnswer, useCall } from '../ask/use-answer.js'
import { Bars, mostBars } from '../parts/bars.js'
import { Failure, Heading, Panel, Table } from '../parts/panel.js'
import { RawJson } from '../parts/raw-json.js'
import { linkTo, type Route } from '../route.js'
import { blockTime, type Bucket, bucketsOf, perDay } from '../text/day-buckets.js'
import { amountText, counted, rounded, unitsOf } from '../text/numbers.js'

/** Figures of the chain from day to day, in UTC. */

/** Days that are shown, by the name of the choice. */
const spans: readonly (readonly [name: string, days: number])[] = [
  ['30 days', 30],
  ['1 year', 365],
  ['all', Infinity],
]

interface Chart {
  readonly title: string
  readonly of: (bucket: Bucket<CountedDay>) => number | null
  readonly format: (value: number) => string
}

function chartsIn(coin: string): readonly Chart[] {
  const operations = (row: CountedDay) => row.creations + row.updates + row.deactivations + row.credentials
  const units = ({ fees = '' }: CountedDay) => {
    const paid = unitsOf(fees)
    return paid === undefined ? undefined : Number(paid)
  }
  return [
    { title: 'Transactions', of: (bucket) => perDay(bucket, (row) => row.transactions), format: rounded },
    { title: 'DIDs created', of: (bucket) => perDay(bucket, (row) => row.creations), format: rounded },
    { title: 'Operations', of: (bucket) => perDay(bucket, operations), format: rounded },
    { title: 'Fees', of: (bucket) => perDay(bucket, units), format: (value) => `${amountText(value)} ${coin}` },
    { title: 'Block time', of: blockTime, format: (value) => `${rounded(value)} s` },
  ]
}

export function ChartsPage({ options }: Route) {
  const span = spans.find(([name]) => name === options.get('span')) ?? spans.at(-1)
  const { days, failure } = useDays()
  const buckets = bucketsOf(days ?? [], { span: span?.[1] ?? Infinity, most: mostBars })
  const charts = chartsIn(useCoin())
  const [first, last] = [buckets[0], buckets.at(-1)]
  return (
    <>
      <Heading kind="Charts" beside={<Spans chosen={span?.[0]} />} />
      {failure !== undefined && days === undefined && <Failure of={failure} />}
      <p class="quiet spanned">
        {first === undefined || last === undefined
          ? 'Days in UTC.'
          : `${first.from} to ${last.to} in UTC. ${meaning(first.length)}`}
      </p>
      <div class="columns">
        {charts.map(({ title, of, format }) => (
          <Panel
            key={title}
            title={title}
            note={<span class="quiet">{title === 'Block time' ? 'mean' : 'a day'}</span>}
          >
            <Bars
              label={`${title} from ${first?.from ?? '?'} to ${last?.to ?? '?'}`}
              bars={days && buckets.map((bucket) => ({ name: nameOf(bucket), value: of(bucket) }))}
              format={format}
            />
          </Panel>
        ))}
      </div>
      <Panel title="Table">
        <details>
          <summary>The charts as a table</summary>
          <Table
            caption="figures of the charts, oldest first"
            rows={buckets}
            keyOf={({ from }) => from}
            empty="There is no block yet but the genesis block."
            columns={[
              ['Days', (bucket) => <span class="number">{nameOf(bucket)}</span>],
              ...charts.map(({ title, of, format }) => [title, cell(of, format), 'number'] as const),
            ]}
          />
        </details>
      </Panel>
      <RawJson method="listdays" />
    </>
  )
}

/** The days of the chain: all are asked for once, the last two again with each change. */
function useDays() {
  const all = useCall<DayList>('listdays', {}, { every: 'once' })
  const known = all.value?.days
  const from = known?.at(-2)?.day ?? known?.at(-1)?.day
  const late = useAnswer(
    async (signal) => known && ask<DayList>('listdays', from === undefined ? {} : { from }, signal),
    ['days', from ?? ''],
  )
  const early = known?.filter(({ day }) => from !== undefined && day < from)
  const days = late.value === undefined ? known : [...(early ?? []), ...late.value.days]
  return { days, failure: all.failure ?? late.failure }
}

function Spans({ chosen }: { chosen: string | undefined }) {
  return (
    <nav class="spans" aria-label="time that is shown">
      {spans.map(([name]) => (
        <a key={name} href={linkTo('charts', '', { span: name })} aria-current={name === chosen ? 'true' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  )
}

function meaning(length: number): string {
  return length === 1 ? 'Each bar is a day.' : `Each bar is ${counted(length, 'day')}, with their mean.`
}

function nameOf({ from, to }: Bucket<CountedDay>): string {
  return from === to ? from : `${from} to ${to}`
}

function cell(of: Chart['of'], format: Chart['format']) {
  return (bucket: Bucket<CountedDay>) => {
    const value = of(bucket)
    return value === null ? <span class="quiet">unknown</span> : format(value)
  }
}
