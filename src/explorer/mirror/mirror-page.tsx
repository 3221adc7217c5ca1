import { useEffect, useMemo, useState } from 'preact/hooks'
import { failureTexts } from '../../clients/light/failure-texts.js'
import { LightError } from '../../clients/light/light-error.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { searchTarget } from '../find/search-target.js'
import { Input, LineForm } from '../parts/form.js'
import { JsonView } from '../parts/json-view.js'
import { Badge, Facts, Heading, Panel, Table, type Tone } from '../parts/panel.js'
import { SecretWarning } from '../parts/secret-warning.js'
import { Theme } from '../parts/theme.js'
import { Copy, Plain } from '../parts/values.js'
import { linkTo } from '../route.js'
import { counted, whole } from '../text/numbers.js'
import { duration, moment } from '../text/times.js'
import { statusName } from '../text/type-names.js'
import { provedDid } from '../verify/proved-view.js'
import type { ShownOperation } from '../verify/views.js'
import { addressDid, didOfTarget } from './address-did.js'
import { type MirrorAnswer, MirrorReader, type TrustSource } from './mirror-reader.js'

/** The one page beside the files of a mirror. */

/** Newest operations that are listed. */
const rows = 50

type Outcome =
  | { readonly state: 'asked' }
  | { readonly state: 'proved'; readonly answer: MirrorAnswer }
  | { readonly state: 'failed'; readonly error: unknown }

export function MirrorPage() {
  const [pasted, setPasted] = useState('')
  const [turn, setTurn] = useState(0)
  const reader = useMemo(() => new MirrorReader(document.baseURI, pasted), [pasted])
  const did = useAddressDid()
  const outcome = useAnswerOf(reader, did, turn)
  return (
    <>
      <header class="top">
        <div class="bar">
          <span class="brand">
            <span aria-hidden="true" class="mark" /> didledger
          </span>
          <Theme />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Heading kind="Mirror" />
        <Question did={did} again={() => setTurn(turn + 1)} />
        <div aria-live="polite">{did !== undefined && <Result key={did} did={did} outcome={outcome} />}</div>
        <Belief pasted={pasted} paste={setPasted} />
      </main>
    </>
  )
}

function useAddressDid(): string | undefined {
  const [did, setDid] = useState(() => addressDid(location))
  useEffect(() => {
    const follow = () => setDid(addressDid(location))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return did
}

/** The answer to the newest question; those to earlier ones are dropped. */
function useAnswerOf(reader: MirrorReader, did: string | undefined, turn: number): Outcome {
  const [outcome, setOutcome] = useState<Outcome>({ state: 'asked' })
  useEffect(() => {
    if (did === undefined) return undefined
    let isNewest = true
    const show = (next: Outcome) => isNewest && setOutcome(next)
    show({ state: 'asked' })
    reader.resolve(did).then(
      (answer) => show({ state: 'proved', answer }),
      (error: unknown) => show({ state: 'failed', error }),
    )
    return () => {
      isNewest = false
    }
  }, [reader, did, turn])
  return outcome
}

function Question({ did = '', again }: { did: string | undefined; again(): void }) {
  const [text, setText] = useState(did)
  useEffect(() => setText(did), [did])
  const [isSecret, setSecret] = useState(false)
  const submit = () => {
    const target = searchTarget(text)
    if (target === undefined) return
    setSecret(target.kind === 'secret')
    if (target.kind === 'secret') return setText('')
    const asked = didOfTarget(target, text)
    setText(asked)
    if (asked === did) again()
    else location.hash = linkTo('did', asked)
  }
  return (
    <Panel title="Resolve a DID">
      <LineForm button="Resolve" main submit={submit}>
        <Input
          set={setText}
          value={text}
          type="search"
          maxLength={2000}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-label="DID"
          placeholder="did:ledger:…"
        />
      </LineForm>
      {isSecret && <SecretWarning />}
    </Panel>
  )
}

function Result({ did, outcome }: { did: string; outcome: Outcome }) {
  if (outcome.state === 'asked') return <p class="awaited">Reads the files of the mirror …</p>
  if (outcome.state === 'failed') return <Refused error={outcome.error} />
  return <Proved did={did} answer={outcome.answer} />
}

function Refused({ error }: { error: unknown }) {
  const failure = error instanceof LightError ? error.failure : undefined
  const failures = error instanceof LightError ? (error.failures ?? []) : []
  return (
    <Panel title="Not proved" note={<Badge tone="bad">{failure ?? 'error'}</Badge>}>
      <p class="failure" role="alert">
        {failure !== undefined && `${failureTexts[failure]}: `}
        <Plain text={error instanceof Error ? error.message : String(error)} />
      </p>
      {failures.map((one) => (
        <p class="failure" key={one.server}>
          <code>{one.failure}</code>: {failureTexts[one.failure]}: <Plain text={one.message} />
        </p>
      ))}
    </Panel>
  )
}

/** Look of each status. */
const tones: readonly Tone[] = ['good', 'warn', 'bad', 'neutral']

function Proved({ did, answer }: { did: string; answer: MirrorAnswer }) {
  const view = provedDid(did, answer.result, { skip: 0, rows })
  const word = statusName(view.status)
  const json = JSON.stringify(view.document, null, 2)
  return (
    <>
      <Panel title="State" note={<Badge tone={tones[view.status] ?? 'neutral'}>{word}</Badge>}>
        <Facts
          rows={[
            ['DID', <Plain text={did} />],
            ['status', word],
            ['operations', whole(view.count)],
            ['document written', view.written !== undefined && moment(view.written)],
          ]}
        />
      </Panel>
      {view.document !== undefined && (
        <Panel title="Document" note={<Copy text={json} what="the document" />}>
          <JsonView value={view.document} />
        </Panel>
      )}
      {view.count > 0 && (
        <Panel title="Operations">
          <Operations operations={view.operations} />
        </Panel>
      )}
      <Checked answer={answer} />
    </>
  )
}

function Operations({ operations }: { operations: readonly ShownOperation[] }) {
  return (
    <Table
      caption="operations, newest first"
      keyOf={({ txid }) => txid}
      rows={operations}
      columns={[
        ['operation', ({ name }) => name],
        ['time', ({ time }) => time !== undefined && moment(time)],
        ['block', ({ height }) => height !== undefined && whole(height), 'number'],
        ['signed by', ({ signer }) => (signer === undefined ? 'not checked' : <Plain text={signer} />)],
      ]}
    />
  )
}

const sources: Readonly<Record<TrustSource, string>> = {
  pasted: 'the one that you pasted',
  shipped: 'the copy in this page, which comes with didledger; that of the mirror was not used',
  mirror: 'the one that this mirror gives: it is believed as far as this host',
}

function Checked({ answer: { result, trust, source, reading } }: { answer: MirrorAnswer }) {
  const { proved } = result
  return (
    <Panel title="Checked" note={<Badge tone="good">✓ proved</Badge>}>
      <Facts
        rows={[
          ['block', `${whole(proved.height)}, ${moment(proved.time)}`],
          ['hash', <code>{proved.hash}</code>],
          ['age', duration(proved.age)],
          ['confirmed by', confirmers(trust.validators !== undefined)],
          ['witnesses', proved.witnesses?.join(', ') ?? 'none asked for: this page has no keys of witnesses'],
          ['chain', <code>{displayHash(trust.chain)}</code>],
          ['Trust', sources[source]],
          ['read', `${counted(reading.files, 'file')}, ${counted(reading.bytes, 'byte')}`],
        ]}
      />
      {trust.devnet && (
        <p class="warn">
          A devnet: its keys are public and its clock is moved by hand, so that proofs of it show nothing, and no block
          of it is refused as too old.
        </p>
      )}
      {proved.oldRoot === true && (
        <p class="warn">
          The Trust begins at a block older than the trust period. Former validators could still sign another chain from
          there.
        </p>
      )}
    </Panel>
  )
}

function confirmers(hasValidators: boolean): string {
  return hasValidators
    ? 'the signatures of a quorum of its validators, followed from the Trust on'
    : 'the work of the blocks above it, followed from the Trust on'
}

function Belief({ pasted, paste }: { pasted: string; paste(trust: string): void }) {
  const [text, setText] = useState(pasted)
  return (
    <Panel title="What is believed">
      <p>
        The files of the mirror are checked, not believed. This page comes from the same host as they do, and a page is
        believed as far as its host: a host that lies could send another page. To rely on less, open a copy of this page
        or a program of your own.
      </p>
      <details>
        <summary>Use a Trust of your own</summary>
        <p>
          A Trust names the chain and who confirms its blocks. Paste one that you have from elsewhere; an empty field
          takes it away.
        </p>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            paste(text)
          }}
        >
          <textarea
            aria-label="Trust, as JSON"
            rows={8}
            maxLength={65_536}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit">Use it</button>
        </form>
      </details>
    </Panel>
  )
}
