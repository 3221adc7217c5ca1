import { ask } from '../ask/node-rpc.js'
import type { DidTransaction, Resolution } from '../ask/shapes.js'
import { useAnswer } from '../ask/use-answer.js'
import { documentOf } from '../did/payload.js'
import { Answered, Panel } from '../parts/panel.js'
import { Moment, Reference, TransactionName } from '../parts/values.js'
import { linkTo } from '../route.js'
import { secondsOf } from '../text/times.js'
import { DocumentDifferences } from './document-differences.js'
import { OperationBadge } from './operations.js'

/** The operations of a DID, newest first, with the choice of two versions to compare. */

/** Operations of one part of the timeline. */
export const timelineRows = 20

interface Props {
  readonly resolution: Resolution
  readonly skip: number
  readonly options: ReadonlyMap<string, string>
}

export function DidTimeline({ resolution, skip, options }: Props) {
  const { did, transaction: operations = [], total = 0, context } = resolution
  const withDocument = operations.filter(hasDocument)
  const to = options.get('to') ?? withDocument[0]?.txid
  const from = options.get('from') ?? withDocument[1]?.txid
  const choose = (side: 'from' | 'to', txid: string) => {
    location.hash = linkTo('did', did, { from, to, [side]: txid, skip: skip === 0 ? undefined : skip })
  }
  return (
    <>
      <Panel title="Timeline">
        <ol class="timeline" reversed start={total - skip}>
          {operations.map((one, index) => {
            const time = secondsOf(one.timestamp)
            const block = context?.at[index]
            return (
              <li key={one.txid}>
                <div class="when">
                  <OperationBadge name={one.operation.header.operation} />{' '}
                  {time !== undefined && <Moment time={time} />}
                </div>
                <div class="what">
                  signed by <Reference text={one.operation.proof.verificationMethod} /> · transaction{' '}
                  <TransactionName text={one.txid} />
                  {block !== undefined && (
                    <>
                      {' '}
                      · block <a href={linkTo('block', block.hash)}>{block.height}</a>
                    </>
                  )}
                </div>
                {hasDocument(one) && total > 1 && (
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
            )
          })}
        </ol>
        <Parts did={did} skip={skip} total={total} shown={operations.length} chosen={{ from, to }} />
      </Panel>
      {from !== undefined && to !== undefined && from !== to && <Comparison did={did} from={from} to={to} />}
    </>
  )
}

function hasDocument({ operation }: DidTransaction): boolean {
  return operation.header.operation !== 'deactivate'
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
  if (skip === 0 && shown >= total) return null
  const newer = Math.max(0, skip - timelineRows)
  return (
    <nav class="pager" aria-label="parts of the timeline">
      {skip > 0 ? (
        <a href={linkTo('did', did, { ...chosen, skip: newer === 0 ? undefined : newer })}>‹ newer</a>
      ) : (
        <span />
      )}
      {skip + shown < total ? <a href={linkTo('did', did, { ...chosen, skip: skip + shown })}>older ›</a> : <span />}
    </nav>
  )
}

/** Both versions are asked for by the transactions that made them, so that any two can be compared. */
function Comparison({ did, from, to }: { did: string; from: string; to: string }) {
  const answer = useAnswer(
    async (signal) => {
      const version = async (versionId: string) => {
        const { transaction } = await ask<Resolution>('resolvedid', { did, all: false, versionId }, signal)
        return transaction?.[0]
      }
      const [before, after] = await Promise.all([version(from), version(to)])
      return { before, after }
    },
    ['versions', did, from, to],
  )
  return (
    <Panel title="Difference" note={<span class="quiet">between the two chosen versions</span>}>
      <Answered answer={answer}>
        {({ before, after }) => {
          const first = before === undefined ? undefined : documentOf(before.operation)
          const second = after === undefined ? undefined : documentOf(after.operation)
          if (first === undefined || second === undefined)
            return <p class="empty">One of them is no version of this DID.</p>
          return <DocumentDifferences before={first} after={second} />
        }}
      </Answered>
    </Panel>
  )
}
