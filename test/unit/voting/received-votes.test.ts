import { expect, it } from 'vitest'
import { type ReceivedVotes, receivedVotes } from '../../../src/voting/received-votes.js'
import { TendermintMachine } from '../../../src/voting/tendermint/machine.js'
import type { VotingMessage } from '../../../src/voting/tendermint/message.js'
import { fakeHeader, Voters } from '../../support/builders/votes.js'

const height = 5
const voters = new Voters(10, height)
const header = fakeHeader(height, 'a block')

function after(messages: readonly VotingMessage[], started = true): ReceivedVotes[] {
  const machine = new TendermintMachine({ height, validators: voters.keys, restored: undefined })
  if (started) machine.handle({ type: 'start' })
  for (const message of messages) machine.handle({ type: 'message', message })
  return receivedVotes(voters.keys, machine.summary(), voters.key(4))
}

const placesOf = (votes: readonly ReceivedVotes[], member: 'own' | 'heard' | 'prevote' | 'precommit') =>
  votes.flatMap((vote, place) => (vote[member] ? [place] : []))

it('has every validator in its order, and which of them is this node', () => {
  const votes = after([])
  expect(votes.map(({ publicKey }) => publicKey)).toEqual(voters.keys)
  expect(placesOf(votes, 'own')).toEqual([4])
  expect(placesOf(votes, 'heard')).toEqual([])
})

it('has votes for a block and for none, also before the first view began', () => {
  for (const started of [true, false]) {
    const votes = after([voters.prevote(1, 0, header.hash), voters.prevote(9, 0, undefined)], started)
    expect(placesOf(votes, 'prevote')).toEqual([1, 9])
    expect(placesOf(votes, 'precommit')).toEqual([])
    expect(placesOf(votes, 'heard')).toEqual([1, 9])
  }
})

it('counts a proposal as heard of its proposer, and as no vote of its view', () => {
  const votes = after([voters.proposal(0, header)])
  expect(placesOf(votes, 'heard')).toEqual([voters.sponsorOf(0)])
  expect(placesOf(votes, 'prevote')).toEqual([])
})

it('has of other views only that a validator was heard', () => {
  const votes = after([voters.prevote(2, 3, undefined), voters.nilPrecommit(3, 2)])
  expect(placesOf(votes, 'heard')).toEqual([2, 3])
  expect([...placesOf(votes, 'prevote'), ...placesOf(votes, 'precommit')]).toEqual([])
})
