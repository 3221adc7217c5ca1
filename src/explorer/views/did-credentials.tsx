import { ask, askAll } from '../ask/node-rpc.js'
import { Refusal } from '../ask/refusal.js'
import { useAnswer } from '../ask/use-answer.js'
import { asMembers, type Members, objectsIn, textIn, textsIn } from '../did/payload.js'
import { JsonView } from '../parts/json-view.js'
import { Answered, Badge, Facts, Panel, type Tone } from '../parts/panel.js'
import { CredentialName, Expiry, Plain, Reference } from '../parts/values.js'
import { linkTo } from '../route.js'
import { counted } from '../text/numbers.js'
import { credentialStatusName } from '../text/type-names.js'
import { saidCredential } from '../verify/said-view.js'
import type { Status } from '../verify/views.js'

/** Credentials: those that stand in a document, and those that the DID declared on the chain. */

/** Credentials of a document whose state on the chain is asked for. */
const stateOf = 100
/** Declared credentials that are listed. */
const listed = 100

interface Listed {
  readonly id: string
  /** Undefined: the node gave none. */
  readonly status: Status | undefined
}

/** Ids of credentials that the DID declared according to the node, and those in its document, each with its state by the node. */
async function onChain(did: string, inDocument: readonly Members[], signal: AbortSignal): Promise<Listed[]> {
  const answer = asMembers(await ask<unknown>('did_listCredentials', { did, limit: listed }, signal)) ?? {}
  const declared = answer['did'] === did ? textsIn(answer, 'credentials') : []
  const issuers = new Map(inDocument.map((one) => [textIn(one, 'id') ?? '', textIn(one, 'issuer')]))
  const ids = [...new Set([...issuers.keys(), ...declared])].slice(0, stateOf)
  const calls = ids.map((id) => {
    const issuer = issuers.get(id)
    return ['did_resolveCredential', { id, ...(issuer === undefined ? {} : { issuer }) }] as const
  })
  const answers = await askAll<unknown>(calls, signal)
  return ids.map((id, i) => ({ id, status: statusOf(id, answers[i]) }))
}

/** The state in an answer about a credential; undefined where it is about another one, or none. */
function statusOf(id: string, answer: unknown): Status | undefined {
  if (answer instanceof Refusal) return undefined
  try {
    return saidCredential(id, answer).status
  } catch {
    return undefined
  }
}

/** The credentials that stand in a document. */
export function CredentialsInDocument({ document }: { document: Members }) {
  const credentials = objectsIn(document, 'verifiableCredential')
  return (
    <Panel title="Credentials">
      {credentials.length === 0 && <p class="empty">No credential in the document.</p>}
      {credentials.map((credential, index) => (
        <Credential key={`${textIn(credential, 'id')} ${index}`} credential={credential} />
      ))}
    </Panel>
  )
}

/** The credentials of a DID as the node lists them: the list has no proof; the page of each credential has. */
export function DidCredentials({ document, did }: { document: Members | undefined; did: string }) {
  const credentials = document === undefined ? [] : objectsIn(document, 'verifiableCredential')
  const ids = credentials.map((one) => textIn(one, 'id'))
  const answer = useAnswer((signal) => onChain(did, credentials, signal), ['credentials', did, ids])
  return (
    <Panel title="Credentials on the chain" note={<span class="quiet">a list, which no proof can show complete</span>}>
      <Answered answer={answer}>
        {(list) =>
          list.length === 0 ? (
            <p class="empty">The node lists no credential.</p>
          ) : (
            <>
              <ul class="rows">
                {list.map(({ id, status }) => (
                  <li key={id}>
                    <CredentialName id={id} />{' '}
                    {status === undefined ? (
                      <span class="quiet">no answer about its state</span>
                    ) : (
                      <CredentialBadge status={status} />
                    )}
                  </li>
                ))}
              </ul>
              {list.length >= listed && <p class="quiet">{counted(list.length, 'credential')}; there may be more.</p>}
            </>
          )
        }
      </Answered>
    </Panel>
  )
}

const tones: readonly Tone[] = ['good', 'warn', 'bad', 'neutral']

/** The state of a credential on the chain; of one that is not declared its own proof is all there is. */
export function CredentialBadge({ status }: { status: Status }) {
  return <Badge tone={tones[status] ?? 'neutral'}>{credentialStatusName(status)}</Badge>
}

/** One credential as it stands in a document or in a declare. */
export function Credential({ credential }: { credential: Members }) {
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
        </a>
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
