import { expect, it } from 'vitest'
import { Header } from '../../../src/base/primitives/header.js'
import { StatedClocks } from '../../../src/voting/stated-clocks.js'
import type { ProposalMessage } from '../../../src/voting/tendermint/message.js'
import { fakeHeader, Voters } from '../../support/builders/votes.js'

const now = 1_800_000_000_000
const voters = new Voters(4, 5)

/** A proposal in a view whose block has the time of now and so many seconds. */
function proposal(view: number, seconds: number, validView = -1): ProposalMessage {
  const { version, previous, merkleRoot, bits, nonce, height } = fakeHeader(5, 'block')
  const header = new Header({ version, previous, merkleRoot, bits, nonce, height, time: now / 1000 + seconds })
  return { ...voters.proposal(view, header), validView }
}

const stated = (...messages: Parameters<StatedClocks['note']>[0][]) => {
  const clocks = new StatedClocks()
  for (const message of messages) clocks.note(message, now)
  return clocks.of(voters.keys)
}

it('takes the latest time that each proposer states', () => {
  expect(stated(proposal(0, 20))).toEqual([20_000])
  expect(stated(proposal(0, 20), proposal(0, -7))).toEqual([-7_000])
})

it('leaves out blocks that may be old, and what states no time', () => {
  expect(stated(proposal(1, 20))).toEqual([])
  expect(stated(proposal(0, 20, 0))).toEqual([])
  expect(stated(voters.prevote(0, 0, undefined))).toEqual([])
})

it('answers for the keys in question alone', () => {
  const clocks = new StatedClocks()
  clocks.note(proposal(0, 20), now)
  const proposer = voters.key(voters.sponsorOf(0))
  expect(clocks.of([proposer])).toEqual([20_000])
  expect(clocks.of(voters.keys.filter((key) => key !== proposer))).toEqual([])
})
