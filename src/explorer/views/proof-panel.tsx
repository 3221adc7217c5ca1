import type { ComponentChildren } from 'preact'
import type { LightResult, Proved } from '../../clients/light/proved-answer.js'
import { OwnClock } from '../ask/chain-clock.js'
import type { Answer } from '../ask/use-answer.js'
import { JsonView } from '../parts/json-view.js'
import { Badge, Facts, Failure, Panel } from '../parts/panel.js'
import { Ago, BlockHeight, Moment, Plain } from '../parts/values.js'
import { counted } from '../text/numbers.js'
import type { Believed, Outcome } from '../verify/chain-check.js'

/** A mark that shows whether the page proved the content, and which checks it made; a click shows the proof. */

interface ProvedResult {
  readonly proved: Proved
}

/** The steps of a check that rest on what was asked, in words. */
export function didSteps({ status, transaction = [], proved }: LightResult): string[] {
  const { count = 0, entries = [] } = proved.history ?? {}
  if (status === 3) return ['That state has no entry of this DID.']
  return [
    `That state holds ${counted(count, 'operation')} of this DID: those shown are among them, in this order, and nothing follows the last.`,
    transaction.length === count
      ? 'Each document is the one that its operation names, and carries a valid signature of its own key.'
      : 'The newest document carries a valid signature of its own key; earlier ones were not read here.',
    ...(entries.some(({ signedBy }) => signedBy !== undefined)
      ? ['Where “signed by” stands, the signature of the operation was verified with that key of a proved document.']
      : []),
  ]
}

export const credentialSteps: readonly string[] = [
  'That state holds what its owner, and the issuer of what was declared, said of this credential, and no more than is shown.',
  'The credential declared is the one that its operation names.',
]

const marks = { proved: '✓ proved', refused: 'not proved', unproved: 'no proof' } as const
const tones = { proved: 'good', refused: 'bad', unproved: 'neutral' } as const

export function ProofPanel<T extends ProvedResult>({
  answer: { value: outcome, failure },
  steps,
}: {
  answer: Pick<Answer<Outcome<T>>, 'value' | 'failure'>
  steps(result: T): readonly string[]
}) {
  if (outcome === undefined) {
    return (
      <Panel title="Proof" room="proof">
        {failure === undefined ? <p class="awaited">checking …</p> : <Failure of={failure} />}
      </Panel>
    )
  }
  const { state } = outcome
  return (
    <Panel title="Proof" room="proof" note={<Badge tone={tones[state]}>{marks[state]}</Badge>}>
      {outcome.state === 'proved' ? (
        <OwnClock.Provider value={!outcome.checked.believed.root.devnet}>
          <Checked checked={outcome.checked} steps={steps(outcome.checked.result)} />
        </OwnClock.Provider>
      ) : (
        <p class={state === 'refused' ? 'failure' : 'empty'} role={state === 'refused' ? 'alert' : undefined}>
          <Plain text={`${outcome.failure}: ${outcome.text.replace(`${outcome.failure}: `, '')}`} />
        </p>
      )}
    </Panel>
  )
}

function Checked<T extends ProvedResult>({
  checked: { result, believed, proof },
  steps,
}: {
  checked: (Outcome<T> & { state: 'proved' })['checked']
  steps: readonly string[]
}) {
  const { height, hash, time, oldRoot } = result.proved
  const isMined = believed.root.validators === undefined
  const all = [
    isMined
      ? 'The block lies in the headers with most work, and deep enough below their end.'
      : 'A quorum of the validators confirmed the block, and these follow from those of the first block.',
    'Its first transaction commits to the state of all DIDs.',
    ...steps,
  ]
  return (
    <>
      <Facts
        rows={[
          [
            'As of',
            <>
              block <BlockHeight height={height} hash={hash} />, <Ago time={time} />
            </>,
          ],
          ['Checked in this page', <Steps of={all} />],
          ['Believed', <Root believed={believed} isOld={oldRoot === true} />],
        ]}
      />
      <details>
        <summary>The proof as the node sent it</summary>
        <JsonView value={proof} />
      </details>
    </>
  )
}

function Steps({ of }: { of: readonly string[] }): ComponentChildren {
  return (
    <ol class="steps">
      {of.map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
  )
}

function Root({ believed: { root, since, isOther }, isOld }: { believed: Believed; isOld: boolean }) {
  if (root.devnet) {
    return <>this node, and its clock: the keys of a devnet are public, so its blocks prove nothing to others</>
  }
  const what = root.validators === undefined ? 'the rules for work' : 'the first validators'
  return (
    <>
      the genesis block and {what} of the chain, as this node named them when this browser first came:{' '}
      <Moment time={since} />
      {isOther && (
        <p class="notice warn">
          Before that, another chain was here: compare the name of this one, <Plain text={root.chain} />, with what is
          published of it.
        </p>
      )}
      {isOld &&
        '. The last block that was known here is older than the period after which validators who left may have sold their keys.'}
    </>
  )
}
