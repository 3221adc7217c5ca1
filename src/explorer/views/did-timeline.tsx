import { effectOf } from '../../base/primitives/did-operation.js'
import { codes, Refusal } from '../ask/refusal.js'
import { useAnswer } from '../ask/use-answer.js'
import type { Members } from '../did/payload.js'
import { Answered, Pager, Panel } from '../parts/panel.js'
import type { Source } from '../parts/word.js'
import { linkTo } from '../route.js'
import { whole } from '../text/numbers.js'
import type { DidView, ShownOperation } from '../verify/views.js'
import { DocumentDifferences } from './document-differences.js'
import { OperationEntry } from './operations.js'

/** The operations of a DID, newest first, with the choice of two versions to compare. */

/** Operations of one part of the timeline. */
export const timelineRows = 20

/** The document of a version by its transaction; undefined where the DID has no such version, or it is a deactivation. */
export type VersionOf = (txid: string, signal: AbortSignal) => Promise<Members | undefined>

interface Props {
  readonly view: DidView
  readonly of: Source
  readonly skip: number
  readonly options: ReadonlyMap<string, string>
  readonly versionOf: VersionOf
}

export function DidTimeline({ view, of, skip, options, versionOf }: Props) {
  const { did, operations, count } = view
  const withDocument = operations.filter(hasDocument)
  const to = options.get('to') ?? withDocument[0]?.txid
  const from = options.get('from') ?? withDocument[1]?.txid
  const choose = (side: 'from' | 'to', txid: string) => {
    location.hash = linkTo('did', did, { from, to, [side]: txid, skip: skip === 0 ? undefined : skip })
  }
  return (
    <>
      <Panel title="Timeline">
        <ol class="timeline" reversed start={operations[0]?.number ?? 0}>
          {operations.map((one) => (
            <li key={one.txid}>
              <OperationEntry operation={one} of={of} />
              {hasDocument(one) && count > 1 && (
                <div class="versions">
                  {(['from', 'to'] as const).map((side) => (
                    <label key={side}>
                      <input
                        type="radio"
                        name={side}
                        checked={(side === 'from' ? from : to) === one.txid}
                        onChange={() => choose(side, one.txid)}
                      />
                      {side === 'from' ? 'compare from' : 'to'}
                    </label>
                  ))}
                </div>
              )}
            </li>
          ))}
        </ol>
        <Missing view={view} skip={skip} of={of} />
        <Parts did={did} skip={skip} total={count} shown={operations.length} chosen={{ from, to }} />
      </Panel>
      {from !== undefined && to !== undefined && from !== to && (
        <Comparison did={did} from={from} to={to} of={of} versionOf={versionOf} />
      )}
    </>
  )
}

function hasDocument({ name, isGivenUp = false }: ShownOperation): boolean {
  return !isGivenUp && effectOf({ operation: name }) !== 'end'
}

/** Says so where operations that are counted are not shown, and are in no other part either. */
function Missing({ view: { operations, count }, skip, of }: { view: DidView; skip: number; of: Source }) {
  if (operations.length >= Math.min(timelineRows, count - skip)) return null
  const last = operations.at(-1)?.number
  return (
    <p class="quiet">
      The node {of === 'proved' ? 'proves' : 'shows'}{' '}
      {last === undefined ? 'none' : `none before number ${whole(last)}`} of the operations here.
    </p>
  )
}

function Parts({
  did,
  skip,
  total,
  shown,
  chosen,
}: {
  did: string
  skip: number
  total: number
  shown: number
  chosen: { from: string | undefined; to: string | undefined }
}) {
  const newer = Math.max(0, skip - timelineRows)
  return (
    <Pager
      label="parts of the timeline"
      words={['‹ newer', 'older ›']}
      back={skip > 0 ? linkTo('did', did, { ...chosen, skip: newer === 0 ? undefined : newer }) : undefined}
      on={skip + shown < total && shown > 0 ? linkTo('did', did, { ...chosen, skip: skip + shown }) : undefined}
    />
  )
}

/** Null where the node does not have it. */
async function unlessPruned(version: Promise<Members | undefined>): Promise<Members | undefined | null> {
  try {
    return await version
  } catch (error) {
    if (error instanceof Refusal && error.code === codes.pruned) return null
    throw error
  }
}

/** Both versions are asked for by the transactions that made them, so that any two can be compared. */
function Comparison({
  did,
  from,
  to,
  of,
  versionOf,
}: {
  did: string
  from: string
  to: string
  of: Source
  versionOf: VersionOf
}) {
  const answer = useAnswer(
    async (signal) => {
      const [before, after] = await Promise.all([from, to].map((txid) => unlessPruned(versionOf(txid, signal))))
      return { before, after }
    },
    ['versions', of, did, from, to],
  )
  return (
    <Panel title="Difference" note={<span class="quiet">between the two chosen versions</span>}>
      <Answered answer={answer}>
        {({ before, after }) =>
          before === null || after === null ? (
            <p class="empty">
              The node does not have both: it gave up superseded documents, or took a state of the chain that has the
              last one alone.
            </p>
          ) : before === undefined || after === undefined ? (
            <p class="empty">One of them is no version of this DID with a document.</p>
          ) : (
            <DocumentDifferences before={before} after={after} />
          )
        }
      </Answered>
    </Panel>
  )
}
