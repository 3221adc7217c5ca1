import { describe, expect, it } from 'vitest'
import { verify } from '../../src/base/crypto/verify.js'
import { hex, parseDisplayHash, toHex } from '../../src/base/primitives/bytes.js'
import {
  type Confirm,
  confirmBytes,
  confirmJson,
  type ConfirmJson,
  parseConfirm,
  proposalBytes,
  proposalHash,
  proposalUnsigned,
  type Vote,
  voteBytes,
  voteUnsigned,
} from '../../src/base/primitives/confirm.js'
import { sha256d, zeroHash } from '../../src/base/primitives/hash.js'
import { copied, openVectors } from '../support/builders/vectors.js'

interface ConfirmVectors {
  synthetic: {
    proposalUnsigned: string
    proposalHashInternal: string
    proposal: string
    vote0Unsigned: string
    vote0HashInternal: string
    vote0: string
    vote1: string
    confirm: string
    json: { result: ConfirmJson }
    selfCheck: boolean[]
  }
  published: { json: { result: ConfirmJson } }
}

const file = openVectors<ConfirmVectors>('confirm.json', { descriptive: ['about', 'source'] })

const envelope = (confirm: Confirm) => ({ error: null, id: null, jsonrpc: '2.0', result: confirmJson(confirm) })

describe('the confirm vector', () => {
  const vector = file.data.synthetic
  const confirm = parseConfirm(hex(vector.confirm))
  const [vote0, vote1] = confirm.votes as [Vote, Vote]

  it('keeps its bytes', () => {
    expect(confirm.votes).toHaveLength(2)
    expect(toHex(confirmBytes(confirm))).toBe(vector.confirm)
    expect(toHex(proposalUnsigned(confirm.proposal))).toBe(vector.proposalUnsigned)
    expect(toHex(proposalBytes(confirm.proposal))).toBe(vector.proposal)
    expect(toHex(voteUnsigned(vote0))).toBe(vector.vote0Unsigned)
    expect(toHex(voteBytes(vote0))).toBe(vector.vote0)
    expect(toHex(voteBytes(vote1))).toBe(vector.vote1)
  })

  it('has its hashes', () => {
    expect(toHex(proposalHash(confirm.proposal))).toBe(vector.proposalHashInternal)
    expect(confirm.votes.map((vote) => toHex(vote.proposalHash))).toEqual([
      vector.proposalHashInternal,
      vector.proposalHashInternal,
    ])
    expect(toHex(sha256d(voteUnsigned(vote0)))).toBe(vector.vote0HashInternal)
  })

  it('has signatures that verify', () => {
    const { sponsor, signature } = confirm.proposal
    expect(verify(sponsor, proposalUnsigned(confirm.proposal), signature)).toBe(true)
    const votes = confirm.votes.map((vote) => verify(vote.signer, voteUnsigned(vote), vote.signature))
    expect(votes).toEqual(copied(vector.selfCheck))
    expect(votes).toEqual([true, true])
  })

  it('has its JSON form', () => {
    expect(envelope(confirm)).toStrictEqual(copied(vector.json))
  })
})

describe('the published confirm', () => {
  it('is what a confirm of the same parts looks like', () => {
    const published = copied(file.data.published.json) as ConfirmVectors['published']['json']
    const { blockhash, sponsor, viewoffset, votes } = published.result
    const signature = new Uint8Array(64)
    const confirm: Confirm = {
      proposal: {
        sponsor: hex(sponsor),
        blockHash: parseDisplayHash(blockhash) as Uint8Array,
        viewOffset: viewoffset,
        signature,
      },
      votes: votes.map(({ signer, accept }) => ({ proposalHash: zeroHash, signer: hex(signer), accept, signature })),
    }
    expect(votes).toHaveLength(3)
    expect(envelope(confirm)).toStrictEqual(published)
  })
})

it('leaves no member unread', () => file.finish())
