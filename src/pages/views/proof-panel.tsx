import type { ComponentChildren } from 'preact'
import type { Proved } from '../../light/proved.js'
import type { CredentialState, Resolution } from '../ask/shapes.js'
import { type Answer, useAnswer } from '../ask/use-answer.js'
import { JsonView } from '../parts/json-view.js'
import { Badge, Facts, Failure, Panel, type Tone } from '../parts/panel.js'
import { Ago, BlockHeight, Moment, Plain } from '../parts/values.js'
import { counted } from '../text/numbers.js'
import { type Believed, checkCredential, checkDid, type Outcome } from '../verify/chain-check.js'
import { compareCredential, compareDid, type Comparison } from '../verify/compare.js'

/** A mark that says whether what is shown was proved in the page, and what was checked; a click shows the proof. */

/** Operations of a DID up to which all their documents are checked, and not the last one alone. */
const documentsChecked = 50

interface ProvedResult {
  readonly proved: Proved
}

export function DidProof({ shown }: { shown: Resolution }) {
  const { did, status, total = 0 } = shown
  const all = total <= documentsChecked
  const answer = useAnswer(() => checkDid(did, all), ['proof', did, all])
  const { value } = answer
  const comparison = value?.state === 'proved' ? compareDid(shown, value.checked.result) : undefined
  const what = [
    status === 3
      ? 'That state has no entry of this DID.'
      : `That state holds ${counted(total, 'operation')} of this DID: those shown are among them, in this order, and nothing follows the last.`,
    status !== 3 &&
      (all
        ? 'Each document is the one that its operation names, and carries a valid signature of its own key.'
        : 'The newest document carries a valid signature of its own key; earlier ones were not read here.'),
  ]
  return <ProofPanel answer={answer} comparison={comparison} what={what} />
}

export function CredentialProof({ shown }: { shown: CredentialState }) {
  const answer = useAnswer(() => checkCredential(shown.id), ['proof', shown.id])
  const { value } = answer
  const comparison = value?.state === 'proved' ? compareCredential(shown, value.checked.result) : undefined
  const what = [
    'That state holds what its owner and its issuer said of this credential, and no more than is shown.',
    'The credential declared is the one that its operation names.',
  ]
  return <ProofPanel answer={answer} comparison={comparison} what={what} />
}

interface Verdict {
  readonly tone: Tone
  readonly mark: string
}

function verdictOf(outcome: Outcome<ProvedResult>, comparison: Comparison | undefined): Verdict {
  if (outcome.state === 'refused') return { tone: 'bad', mark: 'not proved' }
  if (outcome.state === 'unproved') return { tone: 'neutral', mark: 'no proof' }
  if (comparison?.agrees !== true) return { tone: 'bad', mark: 'shown is not what is proved' }
  const { pending, newer } = comparison
  if (newer > 0) return { tone: 'warn', mark: 'out of date' }
  return pending > 0 ? { tone: 'warn', mark: 'proved in part' } : { tone: 'good', mark: '✓ proved' }
}

function ProofPanel({
  answer: { value: outcome, failure },
  comparison,
  what,
}: {
  answer: Pick<Answer<Outcome<ProvedResult>>, 'value' | 'failure'>
  comparison: Comparison | undefined
  what: readonly (string | false)[]
}) {
  if (outcome === undefined) {
    return (
      <Panel title="Proof">
        {failure === undefined ? <p class="awaited">checking …</p> : <Failure of={failure} />}
      </Panel>
    )
  }
  const { tone, mark } = verdictOf(outcome, comparison)
  return (
    <Panel title="Proof" note={<Badge tone={tone}>{mark}</Badge>}>
      {outcome.state === 'proved' ? (
        <Checked outcome={outcome} comparison={comparison} what={what} />
      ) : (
        <p class={outcome.state === 'refused' ? 'failure' : 'empty'}>
          {outcome.state === 'refused' && 'The proof of the node does not hold here. '}
          <Plain text={`${outcome.failure}: ${outcome.text.replace(`${outcome.failure}: `, '')}`} />
        </p>
      )}
    </Panel>
  )
}

function Checked({
  outcome: { checked },
  comparison,
  what,
}: {
  outcome: Outcome<ProvedResult> & { state: 'proved' }
  comparison: Comparison | undefined
  what: readonly (string | false)[]
}) {
  const { result, believed, proof } = checked
  const { height, hash, time } = result.proved
  const isMined = believed.root.validators === undefined
  const steps = [
    isMined
      ? 'The block lies in the headers with most work, and deep enough below their end.'
      : 'A quorum of the validators confirmed the block, and these follow from those of the first block.',
    'Its first transaction commits to the state of all DIDs.',
    ...what,
  ]
  return (
    <>
      {comparison?.agrees === false && (
        <p class="failure" role="alert">
          What the node shows on this page is not what it proves: {comparison.unlike} differs.
        </p>
      )}
      {comparison?.agrees === true && comparison.pending > 0 && (
        <p class="notice warn">{counted(comparison.pending, 'operation')} above that block: not proved yet.</p>
      )}
      {comparison?.agrees === true && comparison.newer > 0 && (
        <p class="notice warn">
          {counted(comparison.newer, 'newer operation')} proved, which this page does not show yet.
        </p>
      )}
      <Facts
        rows={[
          [
            'As of',
            <>
              block <BlockHeight height={height} hash={hash} />, <Ago time={time} />
            </>,
          ],
          ['Checked in this page', <Steps of={steps} />],
          ['Believed', <Root believed={believed} />],
        ]}
      />
      <details>
        <summary>The proof as the node sent it</summary>
        <JsonView value={proof} />
      </details>
    </>
  )
}

function Steps({ of }: { of: readonly (string | false)[] }): ComponentChildren {
  return (
    <ol class="steps">
      {of
        .filter((step) => step !== false)
        .map((step) => (
          <li key={step}>{step}</li>
        ))}
    </ol>
  )
}

function Root({ believed: { root, since } }: { believed: Believed }) {
  if (root.devnet) return <>this node: the keys of a devnet are public, so its blocks prove nothing to others</>
  const what = root.validators === undefined ? 'the rules for work' : 'the first validators'
  return (
    <>
      the genesis block and {what} of the chain, as this node named them when this browser first came:{' '}
      <Moment time={since} />
    </>
  )
}
