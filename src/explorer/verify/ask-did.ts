import { askAll } from '../ask/node-rpc.js'
import { codes, Refusal } from '../ask/refusal.js'
import { saidDid } from './said-view.js'
import type { DidView } from './views.js'

/** Part of the operations of a DID, newest first. */
interface Part {
  readonly skip: number
  readonly rows: number
}

/**
 * The node's word on a DID without a proof: a part of its history, and the last document. A node that began with a state has of old operations the
 * last one alone: then the view has that, and says that there are more.
 */
export async function askDid(did: string, { skip, rows }: Part, signal?: AbortSignal): Promise<DidView> {
  const some = (first: number, limit: number) => {
    return ['resolvedid', { did, all: true, context: true, skip: first, limit }] as const
  }
  // The last two: a deactivate has no document, the one before it has.
  const [history, newest] = await askAll<unknown>([some(skip, rows), some(0, 2)], signal)
  if (!isPruned(history) && !isPruned(newest)) return saidDid(did, given(history), given(newest))
  const [last] = await askAll<unknown>([some(0, 1)], signal)
  const document = isPruned(newest) ? last : newest
  const view = saidDid(did, isPruned(history) ? given(last) : given(history), given(document))
  const isElsewhere = isPruned(history) && skip > 0
  return { ...view, ...(isElsewhere && { operations: [] }), lacksOthers: isPruned(history) }
}

function isPruned(answer: unknown): boolean {
  return answer instanceof Refusal && answer.code === codes.pruned
}

function given(answer: unknown): unknown {
  if (answer instanceof Refusal) throw answer
  return answer
}
