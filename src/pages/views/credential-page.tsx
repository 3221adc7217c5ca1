import { ask } from '../ask/node-rpc.js'
import type { CredentialState } from '../ask/shapes.js'
import { useAnswer } from '../ask/use-answer.js'
import { payloadObject } from '../did/payload.js'
import { Answered, Facts, Heading, Panel } from '../parts/panel.js'
import { DidName, Moment, Plain, Reference, TransactionName } from '../parts/values.js'
import type { Route } from '../route.js'
import { secondsOf } from '../text/times.js'
import { Credential, CredentialBadge } from './did-credentials.js'
import { OperationBadge } from './operations.js'
import { CredentialProof } from './proof-panel.js'

/** A credential on the chain: whether it is declared or revoked, and by which operations. */
export function CredentialPage({ subject }: Route) {
  const answer = useAnswer(
    (signal) => ask<CredentialState>('did_resolveCredential', { id: subject }, signal),
    ['credential', subject],
  )
  const holder = subject.slice(0, Math.max(0, subject.indexOf('#')))
  return (
    <>
      <Heading kind="Credential" beside={<CredentialBadge state={answer.value} />} />
      <Panel title="State">
        <Facts
          rows={[
            ['Id', <Plain text={subject} />],
            ['Holder', holder === '' ? undefined : <DidName text={holder} whole />],
          ]}
        />
        <Answered answer={answer}>{(state) => <Operations state={state} />}</Answered>
      </Panel>
      {answer.value !== undefined && <Declared state={answer.value} />}
      {answer.value !== undefined && <CredentialProof shown={answer.value} />}
    </>
  )
}

function Operations({ state: { status, transaction = [] } }: { state: CredentialState }) {
  if (status === 3) {
    return (
      <p class="empty">
        The chain neither declares nor revokes it: its own proof, and the document it may stand in, are all there is.
      </p>
    )
  }
  return (
    <ol class="timeline" reversed>
      {transaction.map(({ txid, timestamp, operation }) => {
        const time = secondsOf(timestamp)
        return (
          <li key={txid}>
            <div class="when">
              <OperationBadge name={operation.header.operation} /> {time !== undefined && <Moment time={time} />}
            </div>
            <div class="what">
              signed by <Reference text={operation.proof.verificationMethod} /> · transaction{' '}
              <TransactionName text={txid} />
            </div>
          </li>
        )
      })}
    </ol>
  )
}

function Declared({ state }: { state: CredentialState }) {
  const declare = state.transaction?.find(({ operation }) => operation.header.operation === 'declare')
  const content = declare === undefined ? undefined : payloadObject(declare.operation.payload)
  if (content === undefined) return null
  return (
    <Panel title="Content">
      <Credential credential={{ ...content, id: state.id }} state={undefined} />
    </Panel>
  )
}
