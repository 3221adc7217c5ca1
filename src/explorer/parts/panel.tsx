import type { ComponentChildren } from 'preact'
import type { Answer } from '../ask/use-answer.js'
import { codes, NodeGone, type Refusal } from '../ask/refusal.js'
import { NotHad } from './history.js'
import { Scroll } from './scroll.js'
import { Plain } from './values.js'

/** The frames that pages are made of. */

export function Panel({
  title,
  note,
  room,
  children,
}: {
  title: string
  /** Kind of content whose usual height is kept free while it is awaited: what stands below does not move then. */
  room?: 'state' | 'document' | 'proof'
  /** Beside the title. */
  note?: ComponentChildren
  children: ComponentChildren
}) {
  return (
    <section class={room === undefined ? 'panel' : `panel room-${room}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note !== undefined && <div class="note">{note}</div>}
      </header>
      {children}
    </section>
  )
}

/** Names with values, one a line. Rows with `undefined` are left out. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined && value !== null && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** A column of a table. Numbers are aligned to the right; what is spare is left out on narrow screens. */
export type Column<Row> = readonly [
  title: string,
  cell: (row: Row, index: number) => ComponentChildren,
  look?: 'number' | 'spare' | 'number spare',
]

/** A table with a caption for readers that do not see it. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty = 'None.',
  fresh,
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row, index: number): string | number
  empty?: string
  /** Whether a row has just come. */
  fresh?(row: Row): boolean
}) {
  if (rows.length === 0) return <p class="empty">{empty}</p>
  return (
    <Scroll label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(([title, , look = '']) => (
              <th key={title} scope="col" class={look}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)} class={fresh?.(row) === true ? 'fresh' : ''}>
              {columns.map(([title, cell, look = '']) => (
                <td key={title} class={look}>
                  {cell(row, index)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'neutral' | 'accent'

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** Describes the failure of a question in words. */
export function Failure({ of }: { of: Refusal | NodeGone }) {
  if (of instanceof NodeGone) {
    return (
      <p class="failure">
        <Plain text={of.message} />. This page asks again.
      </p>
    )
  }
  if (of.code === codes.pruned) return <NotHad said={wordsOf(of)} />
  const busy = of.code === codes.busy ? ' Ask again in a moment.' : ''
  return (
    <p class="failure" role="alert">
      <Plain text={wordsOf(of)} />
      {busy}
    </p>
  )
}

/** Message that JSON-RPC gives to every code which it reserves for servers, without information. */
const nothingSaid = 'Server error'

/** The words of the node alone: the fault, and its place if the node has it. */
function wordsOf({ message, detail, code }: Refusal): string {
  if (detail === '') return message === nothingSaid ? `The node refuses that, by code ${code}` : message
  return message === nothingSaid ? detail : `${message}: ${detail}`
}

/** Shows an answer when it is there; what it failed with, or that it is awaited, before. */
export function Answered<T>({
  answer,
  children,
}: {
  answer: Pick<Answer<T>, 'value' | 'failure'>
  children(value: T): ComponentChildren
}) {
  const { value, failure } = answer
  if (value !== undefined) return <>{children(value)}</>
  if (failure !== undefined) return <Failure of={failure} />
  return <p class="awaited">…</p>
}

/** Links to the parts of a list on both sides; their words are those of pages by position unless given. */
export function Pager({
  label,
  back,
  on,
  words: [backward, onward] = ['« newest', 'older ›'],
}: {
  label: string
  back: string | undefined
  on: string | undefined
  words?: readonly [back: string, on: string]
}) {
  if (back === undefined && on === undefined) return null
  return (
    <nav class="pager" aria-label={label}>
      {back === undefined ? <span /> : <a href={back}>{backward}</a>}
      {on === undefined ? <span /> : <a href={on}>{onward}</a>}
    </nav>
  )
}

/** A heading of a page: its kind, its name and what else stands beside it. */
export function Heading({
  kind,
  children,
  beside,
}: {
  kind: string
  children?: ComponentChildren
  beside?: ComponentChildren
}) {
  return (
    <div class="heading">
      <h1>
        <span class="kind">{kind}</span> {children !== undefined && <span class="of">{children}</span>}
      </h1>
      {beside !== undefined && <div class="beside">{beside}</div>}
    </div>
  )
}
