import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fetchBlock } from '../../../../src/network/fetch/fetch-block.js'
import { LinkError } from '../../../../src/network/link.js'
import { blocksExchange } from '../../../../src/network/wire/blocks-message.js'
import { auxPowBytes } from '../../../../src/base/primitives/auxpow.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { craftBlock, solved } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'
import { FakePeers, type FakePeer } from '../../../support/fakes/fake-peers.js'

let test: TestChain
let block: Block

beforeEach(async () => {
  test = await TestChain.open({})
  block = craftBlock(test.chain)
})

afterEach(() => test.close())

function peerWith(...bodies: readonly Uint8Array[]): FakePeer {
  return new FakePeers('here').stranger('a', { blocks: () => blocksExchange.answer.encode(bodies) })
}

const fetchFrom = (peer: FakePeer, needed = true) =>
  fetchBlock(peer, { hash: block.header.hash, needed: () => needed }, test.chain.sanity)

describe('a request for one block', () => {
  it('has the bytes and the decoded block', async () => {
    const answer = await fetchFrom(peerWith(block.bytes))
    expect(answer).toMatchObject({ kind: 'block', bytes: Buffer.from(block.bytes) })
    expect(answer.kind === 'block' && answer.block.header.id).toBe(block.header.id)
  })

  it.each([
    ['an empty body', [new Uint8Array(0)]],
    ['an empty list', []],
  ])('is withheld by %s, without a penalty', async (_, bodies) => {
    const peer = peerWith(...bodies)
    expect(await fetchFrom(peer)).toEqual({ kind: 'withheld' })
    expect(peer.penalties).toEqual([])
  })

  it('is unanswered when the link fails', async () => {
    const peer = peerWith()
    peer.other.answer = () => Promise.reject(new LinkError('timeout', 'no answer'))
    expect(await fetchFrom(peer)).toEqual({ kind: 'unanswered' })
  })

  it('is needless when the block came another way, whatever the answer', async () => {
    const peer = peerWith(Uint8Array.of(1, 2, 3))
    expect(await fetchFrom(peer, false)).toEqual({ kind: 'needless' })
    expect(peer.penalties).toEqual([])
  })

  it('is refused, with the penalty of the code, when the bytes do not belong to the hash', async () => {
    const { header, auxPow, transactions } = block
    const cases: readonly (readonly [Uint8Array, string])[] = [
      [craftBlock(test.chain).bytes, 'peer-withheld'],
      [Uint8Array.of(1, 2, 3), 'peer-withheld'],
      [block.bytes.subarray(0, -1), 'block-malformed'],
      [new Block(header, auxPow, [...transactions, ...transactions]).bytes, 'block-duplicate-transaction'],
      [new Block(header, solved(header, false), transactions).bytes, 'auxpow-work'],
    ]
    for (const [bytes, code] of cases) {
      const peer = peerWith(bytes)
      expect(await fetchFrom(peer)).toEqual({ kind: 'refused' })
      expect(peer.penalties).toEqual([code])
    }
  })

  it('verifies work only if it is another than that of the known header', async () => {
    const { header, auxPow, transactions } = block
    const lazy = new Block(header, solved(header, false), transactions)
    const unit = { header, auxPow: auxPowBytes(lazy.auxPow), confirm: new Uint8Array(0), size: lazy.bytes.length }
    const wanted = { hash: header.hash, unit }
    // The header of `unit` counts as verified, so the same AuxPow passes.
    expect((await fetchBlock(peerWith(lazy.bytes), wanted, test.chain.sanity)).kind).toBe('block')
    expect((await fetchBlock(peerWith(block.bytes), wanted, test.chain.sanity)).kind).toBe('block')
    const verified = { hash: header.hash, unit: { ...unit, auxPow: auxPowBytes(auxPow) } }
    expect((await fetchBlock(peerWith(lazy.bytes), verified, test.chain.sanity)).kind).toBe('refused')
  })

  it('rejects with an unexpected error', async () => {
    const peer = peerWith()
    peer.other.answer = () => Promise.reject(new TypeError('a fault of this program'))
    await expect(fetchFrom(peer)).rejects.toThrow('a fault of this program')
  })
})
