import type { SearchTarget } from '../find/search-target.js'
import { Heading, Panel } from '../parts/panel.js'
import { Plain } from '../parts/values.js'

/** A page whose address names no subject: the reason is found in the text alone, without asking the node. */
export function NoSubject({ kind, target }: { kind: string; target: SearchTarget & { kind: 'wrong' } }) {
  return (
    <>
      <Heading kind={kind} />
      <Panel title="Nothing found">
        <p>
          <Plain text={target.text} />
        </p>
        <p role="alert">{target.reason}</p>
      </Panel>
    </>
  )
}
