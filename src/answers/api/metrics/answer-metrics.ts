import type { Histogram, MetricObjectWithValues, MetricValue, Registry } from 'prom-client'

/** Upper bounds of the histogram buckets, in seconds. */
export const durationBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Answers of one kind: counts by status, and durations. */
export class Tally {
  readonly statuses = new Map<string | number, number>()
  /** Count of each bucket alone; the last one has no bound. */
  readonly classes: number[] = new Array<number>(durationBuckets.length + 1).fill(0)
  seconds = 0

  add(status: string | number, seconds: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    this.seconds += seconds
    let at = 0
    while (at < durationBuckets.length && seconds > (durationBuckets[at] as number)) at++
    this.classes[at] = (this.classes[at] as number) + 1
  }
}

/** A counter and a histogram over tallies with the same labels. */
export interface AnswerMetricsOptions {
  readonly labels: readonly string[]
  /** Name and help. */
  readonly counter: readonly [string, string]
  readonly histogram: readonly [string, string]
}

type Values = MetricObjectWithValues<MetricValue<string>>

/**
 * Tallies of every answer of a node. They become metrics only when the registry is read: its own counters cost more time than the
 * fastest answers can spare.
 */
export class AnswerMetrics {
  readonly #options: AnswerMetricsOptions
  readonly #tallies = new Map<string, { readonly labels: Record<string, string>; readonly tally: Tally }>()

  constructor(registry: Registry, options: AnswerMetricsOptions) {
    this.#options = options
    register(registry, () => this.#counter())
    register(registry, () => this.#histogram())
  }

  /** The tally for values of the labels, in their order. */
  of(...values: readonly string[]): Tally {
    const key = values.join(' ')
    let known = this.#tallies.get(key)
    if (known === undefined) {
      const labels = Object.fromEntries(this.#options.labels.map((label, i) => [label, values[i] ?? '']))
      this.#tallies.set(key, (known = { labels, tally: new Tally() }))
    }
    return known.tally
  }

  #counter(): Values {
    const { counter, labels } = this.#options
    const values = [...this.#tallies.values()].flatMap((known) =>
      [...known.tally.statuses].map(([status, value]) => ({
        value,
        labels: { ...known.labels, status: String(status) },
      })),
    )
    return describe(counter, 'counter', [...labels, 'status'], values)
  }

  #histogram(): Values {
    const { histogram, labels } = this.#options
    const [name] = histogram
    const values = [...this.#tallies.values()].flatMap((known) => {
      let count = 0
      const buckets = known.tally.classes.map((answers, at) => {
        const le = String(durationBuckets[at] ?? '+Inf')
        return { metricName: `${name}_bucket`, value: (count += answers), labels: { ...known.labels, le } }
      })
      return [
        ...buckets,
        { metricName: `${name}_sum`, value: known.tally.seconds, labels: known.labels },
        { metricName: `${name}_count`, value: count, labels: known.labels },
      ]
    })
    return describe(histogram, 'histogram', labels, values)
  }
}

function describe(
  [name, help]: readonly [string, string],
  type: 'counter' | 'histogram',
  labelNames: readonly string[],
  values: readonly { readonly value: number; readonly labels: Record<string, string> }[],
): Values {
  return { name, help, type, labelNames, aggregator: 'sum', values } as unknown as Values
}

/** Registers a metric that is built when it is read. */
function register(registry: Registry, read: () => Values): void {
  const { name, help, type, labelNames } = read() as Values & { readonly labelNames: readonly string[] }
  registry.registerMetric({ name, help, type, labelNames, get: () => Promise.resolve(read()) } as unknown as Histogram)
}
