import type { ApiContext } from '../api-context.js'
import type { ApiLimits } from '../api-limits.js'
import type { Access } from '../http/access.js'
import type { HeightGate } from '../http/height-gate.js'
import type { KeptAnswers } from '../http/kept-answers.js'
import type { SharedAnswers } from '../streams/shared-answer.js'

/** Parts of a node from which the rows of one port answer. */
export interface NodePort {
  readonly context: ApiContext
  readonly limits: ApiLimits
  readonly access: Access
  readonly sharedAnswers: SharedAnswers
  readonly heights: HeightGate
  readonly kept: KeptAnswers
  /** Renews the listeners; called when the answer to `restart` is sent. */
  restart(): void
}
