import type { Static } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import { formatAmount } from '../../../base/primitives/amount.js'
import { formatDate, parseDate } from '../../../identity/did/date.js'
import type { ChainSnapshot } from '../../../ledger/chain/chain-snapshot.js'
import { dayOf, secondsOfDay } from '../../../ledger/storage/rows/day-rows.js'
import { type DayCounters, meta, tables } from '../../../ledger/storage/rows/tables.js'
import type { ApiContext } from '../api-context.js'
import { apiLimits } from '../api-limits.js'
import type { listedDays } from '../schemas/block-schemas.js'
import type { StreamedAnswer } from '../streams/streamed-answer.js'
import { boundsOf, checkRange } from './asked-range.js'
import { snapshotAnswer } from './snapshot-answer.js'

type DayRow = Static<typeof listedDays>['days'][number]

/** Counters of the days of a range that have blocks. `request-parameter` for a day that does not exist, no range, or too long a one. */
export function dayList(
  { reader }: ApiContext,
  asked: { from: string | undefined; to: string | undefined },
): StreamedAnswer {
  const range = { from: readDay('from', asked.from), to: readDay('to', asked.to) }
  checkRange(range, apiLimits.listedDays, 'days', dayText)
  return snapshotAnswer(reader, ['days', range.from ?? '', range.to ?? ''], async (state, sink) => {
    const { height } = state.tip
    const { first, last } = boundsOf(range, apiLimits.listedDays, await dayAt(state, height))
    const withoutFees = meta.days.get(state.rows) ?? 0
    const feesFrom = withoutFees === 0 ? 0 : (await dayAt(state, withoutFees)) + 1
    const days: DayRow[] = []
    for (const [key, row] of await state.rows.rows({ gte: tables.day.key(first), lt: tables.day.key(last + 1) }, {})) {
      const [day] = tables.day.fields(key)
      days.push(dayRow(day, tables.day.decode(row), day >= feesFrom))
      if (sink.due) await sink.drain()
    }
    return { height, days }
  })
}

/** The day of the block at a height. */
async function dayAt(state: ChainSnapshot, height: number): Promise<number> {
  const [block] = await state.blocks([height])
  return block === undefined ? 0 : dayOf(block.header)
}

function readDay(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = parseDate(`${text}T00:00:00Z`)
  if (time === undefined)
    throw new RuleError('request-parameter', `${name}: a day that exists is needed, as YYYY-MM-DD`)
  return dayOf({ time })
}

function dayText(day: number): string {
  return formatDate(day * secondsOfDay).slice(0, 10)
}

function dayRow(day: number, { fees, ...counters }: DayCounters, hasFees: boolean): DayRow {
  const numbers = Object.fromEntries(Object.entries(counters).map(([name, sum]) => [name, Number(sum)]))
  return {
    day: dayText(day),
    ...(numbers as Record<keyof typeof counters, number>),
    ...(hasFees && { fees: formatAmount(fees) }),
  }
}
