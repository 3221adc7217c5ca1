import { ask, askAll } from '../ask/node-rpc.js'
import { Refusal } from '../ask/refusal.js'
import type { CredentialState } from '../ask/shapes.js'
import { useAnswer } from '../ask/use-answer.js'
import { asMembers, type Members, objectsIn, textIn, textsIn } from '../did/payload.js'
import { JsonView } from '../parts/json-view.js'
import { Badge, Facts, Panel, type Tone } from '../parts/panel.js'
import { CredentialName, Expiry, Plain, Reference } from '../parts/values.js'
import { linkTo } from '../route.js'
import { counted } from '../text/numbers.js'
import { credentialStatusName } from '../text/type-names.js'

/** Credentials: those that stand in a document, and those that the DID declared on the chain. */

/** Credentials of a document whose state on the chain is asked for. */
const stateOf = 100
/** Declared credentials that are listed. */
const listed = 100

interface OnChain {
  readonly states: ReadonlyMap<string, CredentialState>
  readonly declared: readonly string[]
}

async function onChain(did: string, inDocument: readonly Members[], signal: AbortSignal): Promise<OnChain> {
  const { credentials: declared } = await ask<{ credentials: string[] }>(
    'did_listCredentials',
    { did, limit: listed },
    signal,
  )
  const issuers = new Map(inDocument.map((one) => [textIn(one, 'id') ?? '', textIn(one, 'issuer')]))
  const ids = [...new Set([...issuers.keys(), ...declared])].slice(0, stateOf)
  const calls = ids.map((id) => {
    const issuer = issuers.get(id)
    return ['did_resolveCredential', { id, ...(issuer === undefined ? {} : { issuer }) }] as const
  })
  const found = await askAll<CredentialState>(calls, signal)
  const states = new Map(found.flatMap((one) => (one instanceof Refusal ? [] : [[one.id, one] as const])))
  return { states, declared }
}

export function DidCredentials({ document, did }: { document: Members; did: string }) {
  const credentials = objectsIn(document, 'verifiableCredential')
  const ids = credentials.map((one) => textIn(one, 'id'))
  const { value } = useAnswer((signal) => onChain(did, credentials, signal), ['credentials', did, ids])
  const elsewhere = (value?.declared ?? []).filter((id) => !ids.includes(id))
  return (
    <Panel title="Credentials">
      {credentials.length === 0 && elsewhere.length === 0 && <p class="empty">No credential.</p>}
      {credentials.map((credential, index) => (
        <Credential
          key={`${ids[index]} ${index}`}
          credential={credential}
          state={value?.states.get(ids[index] ?? '')}
        />
      ))}
      {elsewhere.length > 0 && (
        <>
          <h3>Declared on the chain</h3>
          <ul class="rows">
            {elsewhere.map((id) => (
              <li key={id}>
                <CredentialName id={id} /> <CredentialBadge state={value?.states.get(id)} />
              </li>
            ))}
          </ul>
          {value?.declared.length === listed && <p class="quiet">The first {counted(listed, 'credential')}.</p>}
        </>
      )}
    </Panel>
  )
}

const tones: readonly Tone[] = ['good', 'warn', 'bad', 'neutral']

/** The state of a credential on the chain; of one that is not declared its own proof is all there is. */
export function CredentialBadge({ state }: { state: CredentialState | undefined }) {
  if (state === undefined) return null
  return <Badge tone={tones[state.status] ?? 'neutral'}>{credentialStatusName(state.status)}</Badge>
}

/** One credential as it stands in a document or in a declare. */
export function Credential({ credential, state }: { credential: Members; state: CredentialState | undefined }) {
  const id = textIn(credential, 'id') ?? ''
  const issuer = textIn(credential, 'issuer')
  const issued = textIn(credential, 'issuanceDate')
  const expires = textIn(credential, 'expirationDate')
  const subject = asMembers(credential['credentialSubject']) ?? {}
  const claims = Object.fromEntries(Object.entries(subject).filter(([name]) => name !== 'id'))
  return (
    <article class="credential">
      <h3>
        <a href={linkTo('credential', id)}>
          <Plain text={id.includes('#') ? id.slice(id.indexOf('#')) : id} />
        </a>{' '}
        <CredentialBadge state={state} />
      </h3>
      <Facts
        rows={[
          [
            'Types',
            textsIn(credential, 'type').map((type) => (
              <span class="tag">
                <Plain text={type} />
              </span>
            )),
          ],
          ['Issuer', issuer === undefined ? 'the DID itself' : <Reference text={issuer} />],
          ['Issued', issued === undefined ? undefined : <Plain text={issued} />],
          ['Expires', expires === undefined ? undefined : <Expiry date={expires} />],
          ['Claims', <JsonView value={claims} />],
        ]}
      />
    </article>
  )
}
