import { ask } from '../ask/node-rpc.js'
import type { DidTransaction, Resolution } from '../ask/shapes.js'
import { useAnswer } from '../ask/use-answer.js'
import { documentOf, type Members, textIn } from '../did/payload.js'
import { JsonView } from '../parts/json-view.js'
import { Answered, Badge, Facts, Heading, Panel, type Tone } from '../parts/panel.js'
import { Ago, DidName, Expiry, Moment } from '../parts/values.js'
import type { Route } from '../route.js'
import { counted } from '../text/numbers.js'
import { secondsOf } from '../text/times.js'
import { statusName } from '../text/type-names.js'
import { DidCredentials } from './did-credentials.js'
import { DidKeys, DidServices } from './did-parts.js'
import { DidTimeline, timelineRows } from './did-timeline.js'
import { DidProof } from './proof-panel.js'

/** A DID: its state, what its document says, and how it came to be so. */

const tones: readonly Tone[] = ['good', 'warn', 'bad', 'neutral']

export function DidPage({ subject, options }: Route) {
  const skip = Number(options.get('skip') ?? 0) || 0
  const answer = useAnswer(
    (signal) =>
      ask<Resolution>('resolvedid', { did: subject, all: true, context: true, skip, limit: timelineRows }, signal),
    ['did', subject, skip],
  )
  const newest = useAnswer((signal) => newestDocument(subject, signal), ['document', subject])
  return (
    <>
      <Heading
        kind="DID"
        beside={
          answer.value !== undefined && (
            <Badge tone={tones[answer.value.status] ?? 'neutral'}>{statusName(answer.value.status)}</Badge>
          )
        }
      />
      <Answered answer={answer}>
        {(resolution) =>
          resolution.status === 3 ? (
            <>
              <Nothing did={resolution.did} />
              <DidProof shown={resolution} />
            </>
          ) : (
            <>
              <Summary resolution={resolution} newest={newest.value} />
              <DidProof shown={resolution} />
              <Answered answer={newest}>
                {(transaction) => <Document transaction={transaction} did={resolution.did} />}
              </Answered>
              <DidTimeline resolution={resolution} skip={skip} options={options} />
            </>
          )
        }
      </Answered>
    </>
  )
}

/** The last operation with a document; undefined for a DID that does not exist. */
async function newestDocument(did: string, signal: AbortSignal): Promise<DidTransaction | null> {
  const { status, transaction = [] } = await ask<Resolution>('resolvedid', { did, all: false }, signal)
  const [last] = transaction
  if (status !== 2 || last === undefined) return last ?? null
  // A deactivate has no document: the one before it is the last version.
  const history = await ask<Resolution>('resolvedid', { did, all: true, skip: 1, limit: 1 }, signal)
  return history.transaction?.[0] ?? null
}

function Nothing({ did }: { did: string }) {
  return (
    <Panel title="State">
      <p>
        <DidName text={did} whole /> does not exist on this chain: no operation has created it. A mistyped identifier
        looks the same.
      </p>
    </Panel>
  )
}

function Summary({ resolution, newest }: { resolution: Resolution; newest: DidTransaction | null | undefined }) {
  const document = newest === undefined || newest === null ? undefined : documentOf(newest.operation)
  const expires = document === undefined ? undefined : textIn(document, 'expires')
  const [last] = resolution.start === 0 ? (resolution.transaction ?? []) : []
  const changed = secondsOf(last?.timestamp)
  return (
    <Panel title="State">
      <Facts
        rows={[
          ['DID', <DidName text={resolution.did} whole />],
          ['Expires', expires === undefined || resolution.status === 2 ? undefined : <Expiry date={expires} />],
          ['Versions', counted(resolution.total ?? 0, 'operation')],
          [
            'Last change',
            changed === undefined ? undefined : (
              <>
                {last?.operation.header.operation}, <Moment time={changed} />
              </>
            ),
          ],
        ]}
      />
    </Panel>
  )
}

function Document({ transaction, did }: { transaction: DidTransaction | null; did: string }) {
  const document: Members | undefined = transaction === null ? undefined : documentOf(transaction.operation)
  if (document === undefined) return <p class="notice warn">The document of this DID cannot be read.</p>
  const time = secondsOf(transaction?.timestamp)
  return (
    <>
      <DidKeys document={document} />
      <div class="columns">
        <DidServices document={document} />
        <DidCredentials document={document} did={did} />
      </div>
      <Panel
        title="Document"
        note={
          time === undefined ? undefined : (
            <>
              written <Ago time={time} />
            </>
          )
        }
      >
        <details>
          <summary>The whole document, in its normalised form</summary>
          <JsonView value={document} />
        </details>
      </Panel>
    </>
  )
}
