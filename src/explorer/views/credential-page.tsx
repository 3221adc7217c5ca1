import { useChainNow } from '../ask/chain-clock.js'
import { ask } from '../ask/node-rpc.js'
import { type Answer, useAnswer } from '../ask/use-answer.js'
import { documentPart } from '../did/document-part.js'
import { textIn } from '../did/payload.js'
import { credentialSubject } from '../find/did-target.js'
import { Answered, Facts, Failure, Heading, Panel } from '../parts/panel.js'
import { RawJson } from '../parts/raw-json.js'
import { DidName, Plain } from '../parts/values.js'
import { type Source, Word } from '../parts/word.js'
import type { Route } from '../route.js'
import { secondsOf } from '../text/times.js'
import { credentialStatusName } from '../text/type-names.js'
import { checkCredential } from '../verify/chain-check.js'
import { provedCredential } from '../verify/proved-view.js'
import { saidCredential, saidVersion } from '../verify/said-view.js'
import { type CredentialView, statusAt } from '../verify/views.js'
import { Credential, CredentialBadge } from './did-credentials.js'
import { NoSubject } from './no-subject.js'
import { OperationEntry } from './operations.js'
import { credentialSteps, ProofPanel } from './proof-panel.js'

/** A credential on the chain: whether it is declared or revoked, and by which operations; drawn as the page of a DID is. */
export function CredentialPage({ subject }: Route) {
  const target = credentialSubject(subject)
  if (target.kind === 'wrong') return <NoSubject kind="Credential" target={target} />
  return <Asked key={target.text} id={target.text} />
}

function Asked({ id }: { id: string }) {
  const said = useAnswer(
    async (signal) => saidCredential(id, await ask<unknown>('did_resolveCredential', { id }, signal)),
    ['credential', id],
  )
  const proof = useAnswer(() => checkCredential(id), ['proof', id])
  const checked = proof.value?.state === 'proved' ? proof.value.checked : undefined
  const proved = checked && provedCredential(id, checked.result)
  const view = proved ?? said.value
  return (
    <>
      {checked === undefined || proved === undefined ? (
        <Word of="said">
          {said.value === undefined ? <Heading kind="Credential" /> : <Drawn view={said.value} of="said" />}
          <Answered answer={said}>{() => undefined}</Answered>
        </Word>
      ) : (
        <Word of="proved" ownClock={!checked.believed.root.devnet}>
          <Drawn view={proved} of="proved" />
        </Word>
      )}
      {view?.status === 3 && <InDocument id={id} />}
      <ProofPanel answer={proof} steps={() => credentialSteps} />
      {proved !== undefined && <Otherwise proved={proved} answer={said} />}
      <Word of="said">
        <RawJson method="did_resolveCredential" params={{ id }} />
      </Word>
    </>
  )
}

function Drawn({ view, of }: { view: CredentialView; of: Source }) {
  const { id, content, status: known } = view
  const now = useChainNow()
  const status = statusAt(known, secondsOf(content === undefined ? undefined : textIn(content, 'expirationDate')), now)
  return (
    <>
      <Heading kind="Credential" beside={<CredentialBadge status={status} />} />
      <Panel title="State">
        <Facts
          rows={[
            ['Id', <Plain text={id} />],
            ['Holder', <DidName text={id.slice(0, id.indexOf('#'))} whole />],
          ]}
        />
        {status === 3 ? <NotDeclared of={of} /> : <Operations view={view} of={of} />}
      </Panel>
      {content !== undefined && (
        <Panel title="Content">
          <Credential credential={{ ...content, id }} />
        </Panel>
      )}
    </>
  )
}

function NotDeclared({ of }: { of: Source }) {
  return (
    <p class="empty">
      {of === 'proved' ? 'Its holder has neither declared nor revoked it' : 'The node says that it is not declared'}:
      its own proof, and the document it may stand in, are all there is. A revocation by an issuer counts once it is
      declared.
    </p>
  )
}

const partNames = { key: 'a key', service: 'a service', credential: 'a credential in the document' } as const

/** The word of the node on what has an id that is not declared: keys and services of a document have ids of the same form. */
function InDocument({ id }: { id: string }) {
  const did = id.slice(0, id.indexOf('#'))
  const { value: document } = useAnswer(
    async (signal) => saidVersion(did, await ask<unknown>('resolvedid', { did, all: false }, signal)),
    ['document', did],
  )
  const part = document === undefined ? undefined : documentPart(document, id)
  if (part === undefined) return null
  return (
    <Word of="said">
      <p class="notice warn" role="status">
        This is the id of {partNames[part]} of <DidName text={did} />, whose page shows it.
      </p>
    </Word>
  )
}

function Operations({ view: { operations }, of }: { view: CredentialView; of: Source }) {
  return (
    <ol class="timeline" reversed>
      {operations.map((operation) => (
        <li key={operation.txid}>
          <OperationEntry operation={operation} of={of} />
        </li>
      ))}
    </ol>
  )
}

/** The node's word without a proof, where it differs from what it proves. */
function Otherwise({ proved, answer: { value, failure } }: { proved: CredentialView; answer: Answer<CredentialView> }) {
  if (value === undefined) return failure === undefined ? null : <Failure of={failure} />
  if (JSON.stringify({ ...value, operations: 0 }) === JSON.stringify({ ...proved, operations: 0 })) return null
  return (
    <Word of="said">
      <p class="notice warn" role="status">
        Asked without a proof, the node says something else: it is {credentialStatusName(value.status)}
        {value.status === proved.status && ', and says other things'}.
      </p>
    </Word>
  )
}
