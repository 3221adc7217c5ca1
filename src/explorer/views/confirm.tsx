import { ask } from '../ask/node-rpc.js'
import { codes, Refusal } from '../ask/refusal.js'
import type { Confirm } from '../ask/shapes.js'
import { useAnswer } from '../ask/use-answer.js'
import { Answered, Facts, Panel } from '../parts/panel.js'
import { KeyName } from '../parts/values.js'
import { counted } from '../text/numbers.js'

/** The votes that confirmed a block; null where the node has none. */
async function confirmOf(blockhash: string, signal: AbortSignal): Promise<Confirm | null> {
  try {
    return await ask<Confirm>('getconfirmbyhash', { blockhash }, signal)
  } catch (error) {
    if (error instanceof Refusal && [codes.unknownBlock, codes.pruned].includes(error.code)) return null
    throw error
  }
}

export function ConfirmPanel({ blockhash }: { blockhash: string }) {
  const answer = useAnswer((signal) => confirmOf(blockhash, signal), ['confirm', blockhash], { every: 'once' })
  return (
    <Panel title="Confirm">
      <Answered answer={answer}>
        {(confirm) =>
          confirm === null ? (
            <p class="empty">The node has no confirm of this block.</p>
          ) : (
            <>
              <Facts
                rows={[
                  ['Proposer', <KeyName text={confirm.sponsor} />],
                  ['View', confirm.viewoffset],
                  ['Votes', counted(confirm.votes.length, 'precommit')],
                ]}
              />
              <ul class="voters" aria-label="validators that voted for the block">
                {confirm.votes.map(({ signer }) => (
                  <li key={signer}>
                    <KeyName text={signer} />
                    {signer === confirm.sponsor && <span class="quiet"> proposer</span>}
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Answered>
    </Panel>
  )
}
