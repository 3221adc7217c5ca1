import { describe, expect, it } from 'vitest'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import { missingMessages } from '../../../src/voting/missing-votes.js'
import { encodeMessage } from '../../../src/voting/tendermint/message.js'
import { encodeSummary } from '../../../src/voting/tendermint/summary.js'
import { fakeHeader, Voters } from '../../support/builders/votes.js'

const voters = new Voters(4, 7)
const precommit = voters.precommit(0, 0, fakeHeader(7, 'a'))
/** A chain without a confirm. */
const chain = { assumedConfirms: { holds: () => true }, headers: { active: () => undefined } } as unknown as Chain
const asked = (height: number) => encodeSummary({ height, view: 0, step: 'propose', validView: -1, views: [] })
const answer = (height: number, count: number) =>
  missingMessages(asked(height), { height: 7, missing: () => Array.from({ length: count }, () => precommit) }, chain)

describe('the messages that a peer lacks', () => {
  it('are those of the open height, and none above it', () => {
    expect(answer(7, 3)).toEqual(Array.from({ length: 3 }, () => encodeMessage(precommit)))
    expect([answer(8, 3), answer(6, 3)]).toEqual([[], []])
  })

  it('are as many as fit in 512 KiB, each with its length', () => {
    const most = Math.floor((512 * 1024) / (encodeMessage(precommit).length + 3))
    expect(answer(7, most)).toHaveLength(most)
    expect(answer(7, most + 1)).toHaveLength(most)
  })
})
