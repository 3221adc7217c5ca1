import { useState } from 'preact/hooks'
import { useCall } from '../ask/use-answer.js'
import { linkTo } from '../route.js'
import { JsonView } from './json-view.js'
import { Answered, Panel } from './panel.js'
import { Copy } from './values.js'

type Parameters = Readonly<Record<string, string | number | boolean>>

/** The answer of the node that a page is made of, as JSON: asked for when it is opened, and not again with each block. */
export function RawJson({ method, params = {} }: { method: string; params?: Parameters }) {
  const [open, setOpen] = useState(false)
  const fields = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]))
  return (
    <Panel
      title="JSON"
      note={
        <a href={linkTo('interfaces', method, fields)}>
          ask by <code>{method}</code>
        </a>
      }
    >
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>The answer of the node as JSON</summary>
        {open && <Answer method={method} params={params} />}
      </details>
    </Panel>
  )
}

function Answer({ method, params }: { method: string; params: Parameters }) {
  const answer = useCall<unknown>(method, params, { every: 'once' })
  return (
    <Answered answer={answer}>
      {(value) => (
        <div class="answer">
          <Copy text={JSON.stringify(value, null, 2)} what="the JSON" />
          <JsonView value={value} />
        </div>
      )}
    </Answered>
  )
}
