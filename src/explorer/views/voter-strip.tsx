import type { Voters } from '../ask/shapes.js'
import { useCall } from '../ask/use-answer.js'
import { Answered, Panel } from '../parts/panel.js'
import { KeyName } from '../parts/values.js'
import { linkTo } from '../route.js'
import { whole } from '../text/numbers.js'

interface Cell {
  readonly height: number
  readonly kind: 'proposed' | 'voted' | 'absent' | 'outside'
  readonly view: number
}

/** Rows of validators with a cell for each height. */
function rowsOf({ validators, heights }: Voters): [key: string, cells: Cell[]][] {
  const keys = [...new Set(validators.flat())]
  const rows = new Map<string, Cell[]>(keys.map((key) => [key, []]))
  for (const { height, set, view, proposer, voters } of heights) {
    const inForce = validators[set] ?? []
    const voted = new Set(voters.map((position) => inForce[position]))
    for (const [key, cells] of rows) {
      const kind =
        key === proposer ? 'proposed' : voted.has(key) ? 'voted' : inForce.includes(key) ? 'absent' : 'outside'
      cells.push({ height, view, kind })
    }
  }
  return [...rows]
}

/** Words for a cell. */
const words: Readonly<Record<Cell['kind'], string>> = {
  proposed: 'proposed',
  voted: 'voted',
  absent: 'not in the confirm: its vote came after the quorum, or not at all',
  outside: 'no validator then',
}

/** Who voted for the last blocks: a confirm keeps the votes that came first, so an absence is no fault unless there is nothing else. */
export function VoterStrip() {
  const answer = useCall<Voters>('listvoters')
  return (
    <Panel
      title="Votes for the last blocks"
      note={
        <span class="legend" aria-hidden="true">
          <i class="cell proposed" /> proposed <i class="cell voted" /> voted <i class="cell absent" /> after the
          quorum, or not at all
        </span>
      }
    >
      <Answered answer={answer}>
        {(voters) =>
          voters.heights.length === 0 ? <p class="empty">The node lists no confirm.</p> : <Strip voters={voters} />
        }
      </Answered>
    </Panel>
  )
}

/** Blocks that a validator must have missed in a row before it is marked: the fastest three of four may be the same for a while. */
const leastDue = 20

function Strip({ voters }: { voters: Voters }) {
  const first = voters.heights[0]
  const last = voters.heights.at(-1)
  return (
    <div class="strip">
      {rowsOf(voters).map(([key, cells]) => {
        const due = cells.filter(({ kind }) => kind !== 'outside').length
        const silent = cells.every(({ kind }) => kind === 'absent' || kind === 'outside') && due >= leastDue
        const done = cells.filter(({ kind }) => kind === 'proposed' || kind === 'voted').length
        return (
          <div class="strip-row" key={key}>
            <KeyName text={key} />
            <div class="cells" role="group" aria-label={`voted for ${done} of ${due} blocks`}>
              {cells.map(({ height, kind, view }) => (
                <a
                  key={height}
                  class={`cell ${kind}`}
                  href={linkTo('block', String(height))}
                  tabIndex={-1}
                  title={`block ${whole(height)}: ${words[kind]}${view > 0 ? `, view ${view}` : ''}`}
                />
              ))}
            </div>
            <span
              class={`number share ${silent ? 'warn' : ''}`}
              title={silent ? 'in no confirm of these blocks' : undefined}
            >
              {done}/{due}
            </span>
          </div>
        )
      })}
      <div class="strip-row quiet" aria-hidden="true">
        <span />
        <div class="ends number">
          blocks {whole(first?.height ?? 0)} – {whole(last?.height ?? 0)}
        </div>
        <span />
      </div>
    </div>
  )
}
