import { Gauge, Registry } from 'prom-client'
import type { BudgetState } from '../../../clients/registrar/registrar-clients.js'
import { AnswerMetrics } from './answer-metrics.js'
import { exposition } from './exposition.js'
import { addProcessMetrics, gaugeOf } from './process-metrics.js'

/** State of a registrar that a scrape reads. */
export interface RegistrarState {
  /** Registrations that wait to be signed or paid for. */
  waiting(): number
  /** Payments that wait for their turn. */
  payments(): number
  budgets(): readonly BudgetState[]
}

/** Figures of a registrar in the text format of Prometheus. */
export class RegistrarMetrics {
  readonly #registry = new Registry()
  readonly #answers: AnswerMetrics

  constructor({ waiting, payments, budgets }: RegistrarState) {
    addProcessMetrics(this.#registry)
    this.#answers = new AnswerMetrics(this.#registry, {
      labels: ['kind'],
      counter: [
        'didledger_registrar_answers_total',
        'Answers by kind of registration and by state: action, wait, finished or failed.',
      ],
      histogram: ['didledger_registrar_answer_seconds', 'Durations of these answers.'],
    })
    const gauge = gaugeOf(this.#registry)
    gauge('didledger_registrar_waiting', 'Registrations that wait to be signed or paid for.', waiting)
    gauge('didledger_registrar_payments_waiting', 'Payments that wait for their turn.', payments)
    const clients = (name: string, help: string, read: (state: BudgetState) => bigint) => {
      const made: Gauge = new Gauge({
        name,
        help,
        labelNames: ['client'],
        registers: [this.#registry],
        collect: () => {
          for (const state of budgets()) made.set({ client: state.name }, Number(read(state)) / 1e8)
        },
      })
    }
    clients('didledger_registrar_budget_coins', 'Budget of a client, for all time.', ({ budget }) => budget)
    clients('didledger_registrar_spent_coins', 'Coins that a client has spent of it.', ({ spent }) => spent)
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Notes an answer by the state in it. */
  add(kind: string, state: string, seconds: number): void {
    this.#answers.of(kind).add(state, seconds)
  }

  text(): Promise<string> {
    return exposition(this.#registry)
  }
}
