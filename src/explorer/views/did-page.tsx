import { useState } from 'preact/hooks'
import { useChainNow } from '../ask/chain-clock.js'
import { ask } from '../ask/node-rpc.js'
import { codes, Refusal } from '../ask/refusal.js'
import { type Answer, useAnswer } from '../ask/use-answer.js'
import { textIn } from '../did/payload.js'
import { hasName } from '../../base/primitives/did-name.js'
import { addressOfDocument } from '../did/same-key.js'
import { didSubject } from '../find/did-target.js'
import { JsonView } from '../parts/json-view.js'
import { RawJson } from '../parts/raw-json.js'
import { Answered, Badge, Facts, Failure, Heading, Panel, type Tone } from '../parts/panel.js'
import { AddressName, Ago, BlockNumber, DidName, Expiry, Moment } from '../parts/values.js'
import { type Source, Word } from '../parts/word.js'
import type { Route } from '../route.js'
import { counted } from '../text/numbers.js'
import { secondsOf } from '../text/times.js'
import { statusName } from '../text/type-names.js'
import type { LightResult } from '../../clients/light/proved-answer.js'
import { askDid } from '../verify/ask-did.js'
import { type Checked, checkDid, checkVersion } from '../verify/chain-check.js'
import { provedDid, versionIn } from '../verify/proved-view.js'
import { saidVersion } from '../verify/said-view.js'
import { type DidView, otherThanProved, statusAt } from '../verify/views.js'
import { CredentialsInDocument, DidCredentials } from './did-credentials.js'
import { DidKeys, DidServices } from './did-parts.js'
import { DraftPanel, type DraftText } from './draft-panel.js'
import { DidTimeline, timelineRows, type VersionOf } from './did-timeline.js'
import { NoSubject } from './no-subject.js'
import { didSteps, ProofPanel } from './proof-panel.js'
import { TellMe } from './tell-me.js'

/** A DID: its state, its document, and its history; drawn from its proof, and without one from the node's answer. */

const tones: readonly Tone[] = ['good', 'warn', 'bad', 'neutral']

export function DidPage({ subject, options }: Route) {
  const target = didSubject(subject)
  if (target.kind === 'wrong') return <NoSubject kind="DID" target={target} />
  const skip = Math.max(0, Math.floor(Number(options.get('skip') ?? 0) || 0))
  return (
    <>
      <Did key={target.text} did={target.text} skip={skip} options={options} />
      <TellMe key={target.text} did={target.text} />
    </>
  )
}

interface Props {
  readonly did: string
  readonly skip: number
  readonly options: ReadonlyMap<string, string>
}

function Did({ did, skip, options }: Props) {
  const said = useAnswer((signal) => askDid(did, { skip, rows: timelineRows }, signal), ['did', did, skip])
  const proof = useAnswer(() => checkDid(did), ['proof', did])
  const [text, setText] = useState('')
  const held = { text, setText }
  const checked = proof.value?.state === 'proved' ? proof.value.checked : undefined
  const panel = <ProofPanel answer={proof} steps={didSteps} />
  const proved = checked && provedDid(did, checked.result, { skip, rows: timelineRows })
  const status = proved === undefined ? said.value?.status : proved.status
  const drawn = { did, skip, options, proof: panel, answer: said, held }
  return (
    <>
      {checked === undefined || proved === undefined ? (
        <Said {...drawn} />
      ) : (
        <Proved {...drawn} checked={checked} view={proved} />
      )}
      {status !== undefined && status !== 3 && (
        // Outside of both, so that it stays open when the proof comes.
        <Word of="said">
          <RawJson method="resolvedid" params={{ did, all: false }} />
        </Word>
      )}
    </>
  )
}

interface Drawn extends Props {
  readonly answer: Answer<DidView>
  readonly proof: preact.ComponentChildren
  readonly held: DraftText
}

function Proved({
  did,
  skip,
  options,
  answer,
  proof,
  held,
  checked,
  view,
}: Drawn & { checked: Checked<LightResult>; view: DidView }) {
  const ownClock = !checked.believed.root.devnet
  return (
    <>
      <Word of="proved" ownClock={ownClock}>
        <State view={view} of="proved" />
        <DocumentPanel view={view} />
      </Word>
      {proof}
      {(view.status !== 3 || hasName(did)) && (
        <Word of="proved" ownClock={ownClock}>
          {view.status !== 3 && (
            <Content view={view} of="proved" skip={skip} options={options} versionOf={provedVersion(did, checked)} />
          )}
          <Drafts view={view} held={held} />
        </Word>
      )}
      <Word of="said">
        <Otherwise proved={view} answer={answer} />
        {view.status !== 3 && <DidCredentials did={did} document={view.document} />}
      </Word>
    </>
  )
}

/** A version among those proved already; else the node is asked for it with a proof. Rejects where that does not hold. */
function provedVersion(did: string, { result: { transaction = [] } }: Checked<LightResult>): VersionOf {
  return async (txid) => {
    const known = versionIn(transaction, txid)
    if (known !== undefined) return known
    const outcome = await checkVersion(did, txid)
    // The words of the failure may be the node's, and this stands among what is proved.
    if (outcome.state !== 'proved') {
      const code = outcome.state === 'unproved' && outcome.isPruned === true ? codes.pruned : 0
      throw new Refusal(code, `This version was not proved: ${outcome.failure}`, '')
    }
    return versionIn(outcome.checked.result, txid)
  }
}

function Said({ did, skip, options, answer, proof, held }: Drawn) {
  const versionOf: VersionOf = async (versionId, signal) =>
    saidVersion(did, await ask<unknown>('resolvedid', { did, all: false, versionId }, signal))
  const { value: view } = answer
  return (
    <>
      <Word of="said">
        {view === undefined ? (
          <Awaited answer={answer} />
        ) : (
          <>
            <State view={view} of="said" />
            <DocumentPanel view={view} />
          </>
        )}
      </Word>
      {proof}
      {view !== undefined && view.status !== 3 && (
        <Word of="said">
          <Content view={view} of="said" skip={skip} options={options} versionOf={versionOf} />
          <DidCredentials did={did} document={view.document} />
          <Drafts view={view} held={held} />
        </Word>
      )}
    </>
  )
}

/** Drafts of the controllers of a DID with a name that has not ended. */
function Drafts({ view, held }: { view: DidView; held: DraftText }) {
  return hasName(view.did) && view.status !== 2 ? <DraftPanel view={view} held={held} /> : null
}

/** The page before any answer: what comes stands in the same places. */
function Awaited({ answer }: { answer: Answer<DidView> }) {
  return (
    <>
      <Heading kind="DID" />
      <Panel title="State" room="state">
        <Answered answer={answer}>{() => undefined}</Answered>
      </Panel>
      {answer.failure === undefined && (
        <Panel title="Document" room="document">
          <p class="awaited">…</p>
        </Panel>
      )}
    </>
  )
}

interface ViewProps {
  readonly view: DidView
  readonly of: Source
}

function State({ view, of }: ViewProps) {
  const { did, count, height, document, operations, status: known } = view
  const now = useChainNow()
  const address = document === undefined ? undefined : addressOfDocument(document)
  const expires = document === undefined ? undefined : textIn(document, 'expires')
  const status = statusAt(known, secondsOf(expires), now)
  const [last] = operations[0]?.number === count ? operations : []
  return (
    <>
      <Heading kind="DID" beside={<Badge tone={tones[status] ?? 'neutral'}>{statusName(status)}</Badge>} />
      <Panel title="State" room="state">
        {status === 3 && (
          <p>
            {of === 'proved'
              ? 'This DID does not exist on this chain: up to the block below no operation has created it.'
              : 'The node says that this DID does not exist on this chain.'}
          </p>
        )}
        <Facts
          rows={[
            ['DID', <DidName text={did} whole />],
            [
              'Address',
              address === undefined ? undefined : (
                <>
                  <AddressName text={address} /> <span class="quiet">of the same key</span>
                </>
              ),
            ],
            ['Expires', expires === undefined || status === 2 ? undefined : <Expiry date={expires} />],
            ['Versions', status === 3 ? undefined : counted(count, 'operation')],
            [
              'Last change',
              last?.time === undefined ? undefined : (
                <>
                  {last.name}, <Moment time={last.time} />
                </>
              ),
            ],
            ['As of', height === undefined ? undefined : <BlockNumber height={height} />],
          ]}
        />
      </Panel>
    </>
  )
}

function DocumentPanel({ view: { status, document, written } }: { view: DidView }) {
  const note =
    written === undefined ? undefined : (
      <>
        written <Ago time={written} />
      </>
    )
  return (
    <Panel title="Document" room="document" note={note}>
      {document !== undefined ? (
        <details>
          <summary>The whole document, in its normalised form</summary>
          <JsonView value={document} />
        </details>
      ) : status === 3 ? (
        <p class="empty">There is none.</p>
      ) : (
        <p class="notice warn">The document of this DID cannot be read.</p>
      )}
    </Panel>
  )
}

function Content({ view, of, skip, options, versionOf }: ViewProps & Omit<Props, 'did'> & { versionOf: VersionOf }) {
  const { document } = view
  return (
    <>
      {document !== undefined && (
        <>
          <DidKeys document={document} />
          <div class="columns">
            <DidServices document={document} />
            <CredentialsInDocument document={document} />
          </div>
        </>
      )}
      <DidTimeline view={view} of={of} skip={skip} options={options} versionOf={versionOf} />
    </>
  )
}

/** The node's word without a proof, where it differs from what it proves: another state, or operations above the proved block. */
function Otherwise({ proved, answer: { value, failure } }: { proved: DidView; answer: Answer<DidView> }) {
  if (value === undefined) return failure === undefined ? null : <Failure of={failure} />
  const differences = otherThanProved(proved, value, statusName)
  if (differences.length === 0) return null
  return (
    <p class="notice warn" role="status">
      Asked without a proof, the node says something else: {differences.join(', ')}
      {value.height !== undefined && `, as of block ${value.height}`}.
    </p>
  )
}
