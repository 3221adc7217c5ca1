import { exchange } from './http.js'
import { otherInterface } from './node-url.js'
import { answerOf, asText, optional } from '../../base/primitives/answer-form.js'

/** Status that a node reports for monitoring. */
export interface Readiness {
  /** `ready`, or what it is instead. */
  readonly status: string
  readonly reason?: string
  /** Whether it is in step with its chain; absent if the node does not report it. */
  readonly inStep?: boolean
}

/** @tuning ms: the question whether a node is ready */
const patience = 10_000

/** Whether the node of a REST address is ready, by its `/readyz`. */
export async function readinessOf(rest: string): Promise<Readiness> {
  const url = `${rest}/readyz`
  const answer = await exchange(url, undefined, { timeout: patience })
  const other = await otherInterface(url, answer, 'REST')
  if (other !== undefined) throw other
  return answerOf(url, {
    status: asText,
    reason: optional(asText),
    inStep: (value) => (typeof value === 'boolean' ? value : undefined),
  })(answer.body)
}
