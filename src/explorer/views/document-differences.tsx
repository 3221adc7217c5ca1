import type { Members } from '../did/payload.js'
import { type Difference, differencesOf } from '../did/differences.js'
import { JsonView } from '../parts/json-view.js'
import { Badge, type Tone } from '../parts/panel.js'
import { Plain } from '../parts/values.js'

/** Differences between two versions of a document, in words. */

const tones: Readonly<Record<Difference['kind'], Tone>> = {
  added: 'good',
  removed: 'bad',
  changed: 'accent',
  moved: 'neutral',
}

/** Rows that are shown of a long comparison. */
const most = 300

export function DocumentDifferences({ before, after }: { before: Members; after: Members }) {
  const all = differencesOf(before, after)
  // Each version has a proof of its own, which says nothing about what changed.
  const rows = all.filter(({ path }) => path[0] !== 'proof')
  if (rows.length === 0) return <p class="empty">Nothing but the proof: the two versions say the same.</p>
  return (
    <ul class="differences">
      {rows.slice(0, most).map((row, index) => (
        <li key={index} class={row.kind}>
          <div>
            <Badge tone={tones[row.kind]}>{row.kind}</Badge>{' '}
            {row.path.map((part, at) => (
              <span key={at}>
                {at > 0 && <span class="quiet"> › </span>}
                <Plain text={part} />
              </span>
            ))}
          </div>
          {'before' in row && (
            <div class="before">
              <span class="unseen">before: </span>
              <JsonView value={row.before} level={1} />
            </div>
          )}
          {'after' in row && (
            <div class="after">
              <span class="unseen">after: </span>
              <JsonView value={row.after} level={1} />
            </div>
          )}
        </li>
      ))}
      {rows.length > most && <li>and {rows.length - most} more</li>}
    </ul>
  )
}
