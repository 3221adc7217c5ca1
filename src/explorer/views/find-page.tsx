import { useEffect, useState } from 'preact/hooks'
import { nodeUrl } from '../ask/node-rpc.js'
import type { Found } from '../ask/shapes.js'
import { useCall } from '../ask/use-answer.js'
import { conditionOf, type ConditionRow, kindOf, type KindName, kinds } from '../find/condition.js'
import { Input } from '../parts/form.js'
import { Answered, Heading, Pager, Panel } from '../parts/panel.js'
import { Copy } from '../parts/values.js'
import { linkTo, type Route } from '../route.js'
import { counted, whole } from '../text/numbers.js'
import { FoundTable } from './found-table.js'

/** Finds DIDs by the content of their documents; shows the condition, and the call that it makes. */

const rows = 20
const emptyRow: ConditionRow = { kind: 'service', value: '', name: '', negated: false }

export function FindPage({ options }: Route) {
  const asked = options.get('q')
  const skip = Math.max(0, Math.floor(Number(options.get('skip') ?? 0) || 0))
  const [parts, setParts] = useState<readonly ConditionRow[]>([emptyRow])
  const [join, setJoin] = useState<'all' | 'any'>('all')
  const [text, setText] = useState(asked ?? '{}')
  useEffect(() => {
    if (asked !== undefined) setText(asked)
  }, [asked])
  const build = (next: readonly ConditionRow[], how: 'all' | 'any') => {
    setParts(next)
    setJoin(how)
    setText(JSON.stringify(conditionOf(next, how)))
  }
  const change = (index: number, to: Partial<ConditionRow>) =>
    build(
      parts.map((part, at) => (at === index ? { ...part, ...to } : part)),
      join,
    )
  const search = (event: Event) => {
    event.preventDefault()
    location.hash = linkTo('find', '', { q: text })
  }
  return (
    <>
      <Heading kind="Find DIDs" />
      <form onSubmit={search}>
        <Panel title="Condition">
          <fieldset class="builder">
            <legend>
              Documents that meet{' '}
              <select
                aria-label="how the parts are joined"
                value={join}
                onChange={(event) => build(parts, event.currentTarget.value as 'all' | 'any')}
              >
                <option value="all">all</option>
                <option value="any">any</option>
              </select>{' '}
              of these:
            </legend>
            {parts.map((part, index) => (
              <BuilderRow
                key={index}
                row={part}
                change={(to) => change(index, to)}
                remove={
                  parts.length > 1
                    ? () =>
                        build(
                          parts.filter((_, at) => at !== index),
                          join,
                        )
                    : undefined
                }
              />
            ))}
            <button type="button" onClick={() => build([...parts, emptyRow], join)}>
              Add a part
            </button>
          </fieldset>
          <label class="stacked">
            The condition, as the node takes it
            <textarea
              class="code"
              rows={Math.min(8, 1 + Math.ceil(text.length / 90))}
              spellcheck={false}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <button class="main" type="submit">
            Find
          </button>
        </Panel>
      </form>
      <CallPanel query={asked ?? text} skip={skip} />
      {asked !== undefined && <Results query={asked} skip={skip} />}
    </>
  )
}

function BuilderRow({
  row,
  change,
  remove,
}: {
  row: ConditionRow
  change(to: Partial<ConditionRow>): void
  remove: (() => void) | undefined
}) {
  const kind = kindOf(row.kind)
  return (
    <div class="part">
      <label class="check">
        <input
          type="checkbox"
          checked={row.negated}
          onChange={(event) => change({ negated: event.currentTarget.checked })}
        />
        not
      </label>
      <select
        aria-label="what is asked for"
        value={row.kind}
        onChange={(event) => change({ kind: event.currentTarget.value as KindName, value: '' })}
      >
        {Object.entries(kinds).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      {kind.name !== undefined && (
        <Input aria-label={kind.name} placeholder={kind.name} value={row.name} set={(name) => change({ name })} />
      )}
      {kind.type === 'date' ? (
        <Input type="date" aria-label="date" value={row.value} set={(value) => change({ value })} />
      ) : (
        <Input aria-label="value" placeholder={kind.hint ?? ''} value={row.value} set={(value) => change({ value })} />
      )}
      {remove !== undefined && (
        <button type="button" onClick={remove} aria-label="remove this part">
          ✕
        </button>
      )}
    </div>
  )
}

function parametersOf(query: string, skip: number) {
  return { query, skip, limit: rows }
}

function CallPanel({ query, skip }: { query: string; skip: number }) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'query', params: parametersOf(query, skip) }, null, 2)
  const compact = JSON.stringify(JSON.parse(body)).replaceAll("'", "'\\''")
  const command = `curl -s ${nodeUrl('rpc').href} -H 'content-type: application/json' -d '${compact}'`
  return (
    <Panel title="The call" note={<Copy text={command} what="the call as a command" />}>
      <pre class="code call">{body}</pre>
    </Panel>
  )
}

function Results({ query, skip }: { query: string; skip: number }) {
  const answer = useCall<Found>('query', parametersOf(query, skip))
  const page = (at: number) => linkTo('find', '', { q: query, skip: at === 0 ? undefined : at })
  return (
    <Panel title="Found">
      <Answered answer={answer}>
        {({ total, start, count, document }) => (
          <>
            <p>
              {counted(total, 'DID')}
              {total > count && count > 0 && (
                <span class="quiet">
                  {' '}
                  · {whole(start + 1)} – {whole(start + count)}
                </span>
              )}
            </p>
            {total > 0 && skip >= total ? (
              <p class="empty">
                This page is beyond the last one: <a href={page(0)}>show the first</a>.
              </p>
            ) : (
              <FoundTable documents={document} />
            )}
            <Pager
              label="parts of the result"
              words={['‹ before', 'more ›']}
              back={skip > 0 && skip < total ? page(Math.max(0, skip - rows)) : undefined}
              on={count > 0 && start + count < total ? page(start + count) : undefined}
            />
          </>
        )}
      </Answered>
    </Panel>
  )
}
