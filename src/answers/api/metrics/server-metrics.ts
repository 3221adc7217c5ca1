import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, Registry } from 'prom-client'
import { AnswerMetrics, type Tally } from './answer-metrics.js'
import { exposition } from './exposition.js'
import { addProcessMetrics } from './process-metrics.js'

const delayPercentiles = [50, 99, 100]
/** Milliseconds between two samples of the event loop. */
const delayResolution = 20

/** Figures of what serves: answers, WebSockets, the process; `add` puts those of what is served before them. */
export class ServerMetrics {
  readonly #registry = new Registry()
  readonly #requests: AnswerMetrics
  readonly #calls: AnswerMetrics
  /** Connections that WebSocket clients hold open. */
  readonly webSocketConnections: Gauge
  #delay: IntervalHistogram | undefined

  constructor(add: (registry: Registry) => void) {
    const registers = [this.#registry]
    addProcessMetrics(this.#registry)
    this.#addDelay()
    add(this.#registry)
    this.webSocketConnections = new Gauge({
      name: 'didledger_websocket_connections',
      help: 'WebSocket connections that are open.',
      registers,
    })
    this.#requests = new AnswerMetrics(this.#registry, {
      labels: ['path'],
      counter: ['didledger_http_requests_total', 'HTTP requests answered, by route and HTTP status.'],
      histogram: [
        'didledger_http_request_duration_seconds',
        'Time from a request until its answer goes out, by route.',
      ],
    })
    this.#calls = new AnswerMetrics(this.#registry, {
      labels: ['interface', 'method'],
      counter: ['didledger_rpc_calls_total', 'JSON-RPC calls, each of a batch, by method and error code, or ok.'],
      histogram: ['didledger_rpc_call_duration_seconds', 'Time that a JSON-RPC call took, by method.'],
    })
  }

  /** Tally of HTTP answers of a route, by its pattern; undefined: all requests without a route. By HTTP status. */
  requests(path: string | undefined): Tally {
    return this.#requests.of(path ?? 'other')
  }

  /** Tally of a JSON-RPC method; undefined: all unknown methods. By error code, or `ok`. */
  calls(carrier: 'http' | 'websocket', method: string | undefined): Tally {
    return this.#calls.of(carrier, method ?? 'other')
  }

  /** All figures in the text format, version 0.0.4. */
  text(): Promise<string> {
    return exposition(this.#registry)
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Every metric, for the reference page. */
  describe(): { name: string; help: string; type: string; labels: readonly string[] }[] {
    return this.#registry.getMetricsAsArray().map((metric) => {
      const { name, help, type, labelNames = [] } = metric as unknown as Description
      return { name, help, type: String(type), labels: labelNames.filter((label) => label !== 'le') }
    })
  }

  close(): void {
    this.#delay?.disable()
  }

  /** Measures from the first scrape on: an unwatched node need not measure itself. */
  #addDelay(): void {
    const start = () => {
      const watch = monitorEventLoopDelay({ resolution: delayResolution })
      watch.enable()
      return watch
    }
    const gauge = new Gauge({
      name: 'didledger_event_loop_delay_seconds',
      help: 'How much too late timers were since the last question, by percentile; 100 is the worst.',
      // Not `quantile`, which Prometheus reserves for summaries.
      labelNames: ['percentile'],
      registers: [this.#registry],
      collect: () => {
        const watch = (this.#delay ??= start())
        for (const percentile of delayPercentiles) {
          const late = watch.count === 0 ? 0 : watch.percentile(percentile) / 1e6 - delayResolution
          gauge.set({ percentile }, Math.max(0, late) / 1000)
        }
        watch.reset()
      },
    })
  }
}

interface Description {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly labelNames?: readonly string[]
}
