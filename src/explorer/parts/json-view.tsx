import { useState } from 'preact/hooks'
import { counted } from '../text/numbers.js'
import { Outside, Plain } from './values.js'

/** JSON of unknown origin, as a tree whose long parts are opened by hand. */

/** Entries that are shown of one list or object before it is opened further. */
const entriesAtFirst = 100
/** Levels that are open from the start. */
const openLevels = 3

export function JsonView({ value, level = 0 }: { value: unknown; level?: number }) {
  if (typeof value === 'string') {
    return (
      <span class="json-text">
        "<Outside text={value} />"
      </span>
    )
  }
  if (typeof value !== 'object' || value === null) return <span class="json-scalar">{String(value)}</span>
  const entries = Object.entries(value as Record<string, unknown>)
  return <Entries entries={entries} list={Array.isArray(value)} level={level} />
}

function Entries({ entries, list, level }: { entries: [string, unknown][]; list: boolean; level: number }) {
  const [open, setOpen] = useState(level < openLevels && entries.length <= entriesAtFirst)
  const [most, setMost] = useState(entriesAtFirst)
  const [begin, end] = list ? '[]' : '{}'
  if (entries.length === 0) return <span>{`${begin}${end}`}</span>
  if (!open) {
    return (
      <button class="more" type="button" aria-expanded="false" onClick={() => setOpen(true)}>
        {begin} {counted(entries.length, list ? 'entry' : 'member', list ? 'entries' : 'members')} {end}
      </button>
    )
  }
  return (
    <span class="json-open">
      {level > 0 ? (
        <button class="fold" type="button" aria-expanded="true" aria-label="fold" onClick={() => setOpen(false)}>
          {begin}
        </button>
      ) : (
        begin
      )}
      <ul class="json">
        {entries.slice(0, most).map(([name, entry]) => (
          <li key={name}>
            {!list && (
              <span class="json-name">
                <Plain text={name} />:{' '}
              </span>
            )}
            <JsonView value={entry} level={level + 1} />
          </li>
        ))}
        {entries.length > most && (
          <li>
            <button class="more" type="button" onClick={() => setMost(most + 10 * entriesAtFirst)}>
              … {counted(entries.length - most, 'more', 'more')}
            </button>
          </li>
        )}
      </ul>
      {end}
    </span>
  )
}
