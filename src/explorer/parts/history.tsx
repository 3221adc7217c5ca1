import type { ChainInfo } from '../ask/shapes.js'
import { useCall } from '../ask/use-answer.js'
import { endText, givenUpText, historyText, lackText } from '../text/history.js'
import { Plain } from './values.js'

/** Notes on a page of a node that took the state of a block from others, and verifies what lies below it. */

/** How far the node is; nothing of one that has all of its chain. */
export function useHistoryText(): string | undefined {
  return historyText(useCall<ChainInfo>('getchaininfo').value ?? {})
}

export function HistoryNote() {
  const text = useHistoryText()
  if (text === undefined) return null
  return (
    <p class="notice warn" role="status">
      This node began with a state: {text}.
    </p>
  )
}

/** In place of what the node refused as `pruned`; `said` are its own words, for one that prunes. */
export function NotHad({ said }: { said: string }) {
  const { value, failure } = useCall<ChainInfo>('getchaininfo')
  if (value === undefined && failure === undefined) return <p class="awaited">…</p>
  return (
    <p class="notice warn" role="status">
      <Plain text={lackText(value ?? {}) ?? said} />
    </p>
  )
}

/** Below a list that ends above the first block; `pruned` as the list names it. */
export function ListEnd({ pruned }: { pruned: number | undefined }) {
  return pruned === undefined ? null : <p class="quiet">{endText(pruned)}</p>
}

/** Below a list without the transactions whose documents were superseded. */
export function GivenUpNote({ superseded }: { superseded: number | undefined }) {
  return superseded === undefined ? null : <p class="quiet">{givenUpText(superseded)}</p>
}
