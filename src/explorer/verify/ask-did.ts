import { askAll } from '../ask/node-rpc.js'
import { Refusal } from '../ask/refusal.js'
import { saidDid } from './said-view.js'
import type { DidView } from './views.js'

/** Part of the operations of a DID, newest first. */
interface Part {
  readonly skip: number
  readonly rows: number
}

/** The node's word on a DID without a proof: a part of its history, and the last document. */
export async function askDid(did: string, { skip, rows }: Part, signal?: AbortSignal): Promise<DidView> {
  const some = (first: number, limit: number) => {
    return ['resolvedid', { did, all: true, context: true, skip: first, limit }] as const
  }
  // The last two: a deactivate has no document, the one before it has.
  const [history, newest] = await askAll<unknown>([some(skip, rows), some(0, 2)], signal)
  return saidDid(did, given(history), given(newest))
}

function given(answer: unknown): unknown {
  if (answer instanceof Refusal) throw answer
  return answer
}
