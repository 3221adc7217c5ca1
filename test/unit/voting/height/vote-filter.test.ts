import { describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import { easiestBits } from '../../../../src/base/primitives/compact.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { Header } from '../../../../src/base/primitives/header.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { VoteFilter } from '../../../../src/voting/height/vote-filter.js'
import { signMessage } from '../../../../src/voting/sign-message.js'
import type { PrevoteMessage, SignedMessage } from '../../../../src/voting/tendermint/message.js'
import { testKey, testPublicKey, testSpec } from '../../../support/builders/spec.js'

const genesis = sha256('genesis')
const height = 7

function prevote(person: number, view: number, block?: string): SignedMessage {
  const blockHash = block === undefined ? undefined : sha256(block)
  const vote = { kind: 'prevote', height, view, blockHash, signer: testPublicKey(person) } as const
  return signMessage(vote, genesis, testKey(person))
}

/** A precommit for no block. */
function nil(person: number, view: number): SignedMessage {
  const vote = { kind: 'precommit-nil', height, view, signer: testPublicKey(person) } as const
  return signMessage(vote, genesis, testKey(person))
}

function open() {
  const clock = { time: 0, now: () => clock.time }
  const inline = createInlineVerifier()
  let verified = 0
  const verifier = {
    ...inline,
    verifyAll: (...args: Parameters<typeof inline.verifyAll>) => {
      verified += args[0].length
      return inline.verifyAll(...args)
    },
  }
  const spec = parseSpec(testSpec())
  const previous = sha256('previous')
  const gate = new VoteFilter({ spec, genesis, height, previous, verifier, clock, verified: new SignatureCache() })
  return { gate, clock, verifications: () => verified }
}

describe('the gate of a vote', () => {
  it('lets a word in once', async () => {
    const { gate, verifications } = open()
    expect(await gate.accept(prevote(0, 0))).toBe(true)
    expect(await gate.accept(prevote(0, 0))).toBe(false)
    expect(verifications()).toBe(1)
  })

  it('lets a proof in once, which has no signer and counts against none', async () => {
    const { gate, verifications } = open()
    const fields = { version: 0, previous: sha256('previous'), merkleRoot: sha256('a'), time: 0, nonce: 0 }
    const header = new Header({ ...fields, bits: easiestBits, height })
    const vote = { kind: 'prevote', height, view: 2, blockHash: header.hash } as const
    const prevotes = [0, 1, 2].map((person) =>
      signMessage({ ...vote, signer: testPublicKey(person) }, genesis, testKey(person)),
    ) as PrevoteMessage[]
    const proof = { kind: 'proof', height, view: 2, header, prevotes } as const
    expect([await gate.accept(proof), await gate.accept(proof), verifications()]).toEqual([true, false, 3])
    for (const one of prevotes) expect(await gate.accept(one)).toBe(true)
    // Their signatures are known by the proof.
    expect(verifications()).toBe(3)
  })

  it('takes the second vote of a step, which is evidence, and counts no third', async () => {
    const { gate, clock, verifications } = open()
    for (const [first, second, ...others] of [
      ['a', 'b', 'c', undefined],
      [undefined, 'a', 'b', 'c'],
    ]) {
      const view = clock.time++
      expect(await gate.accept(prevote(1, view, first))).toBe(true)
      expect(await gate.accept(prevote(1, view, second))).toBe(true)
      const before = verifications()
      for (const other of others) expect(await gate.accept(prevote(1, view, other))).toBe(false)
      expect(verifications()).toBe(before)
      // Another step, another view, another validator.
      expect(await gate.accept(nil(1, view))).toBe(true)
      expect(await gate.accept(prevote(1, view + 100, 'c'))).toBe(true)
      expect(await gate.accept(prevote(2, view, 'c'))).toBe(true)
    }
  })

  it('takes two of three contradicting votes that arrive at once', async () => {
    const { gate } = open()
    const accepted = await Promise.all(['a', 'b', 'c', 'd'].map((block) => gate.accept(prevote(1, 0, block))))
    expect(accepted.filter((isNew) => isNew)).toHaveLength(2)
  })

  it('takes a vote once that arrives twice at once, and verifies it once unless the first is forged', async () => {
    const { gate, verifications } = open()
    const vote = prevote(1, 0, 'a')
    expect(await Promise.all([gate.accept(vote), gate.accept(vote)])).toEqual([true, false])
    expect(verifications()).toBe(1)
    const other = prevote(1, 1, 'a')
    const forged = { ...other, signature: other.signature.slice().fill(1, 40) }
    const both = await Promise.allSettled([gate.accept(forged), gate.accept(other)])
    expect(both).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: true }])
  })

  it('takes no vote that this node sent itself', async () => {
    const { gate } = open()
    gate.markSeen(prevote(1, 0, 'a'))
    expect([await gate.accept(prevote(1, 0, 'a')), await gate.accept(prevote(1, 0, 'b'))]).toEqual([false, true])
    expect(await gate.accept(prevote(1, 0, 'c'))).toBe(false)
  })

  it('has a bound for what one validator says, and none of it is verified beyond that', async () => {
    const { gate, clock, verifications } = open()
    let views = 0
    const flood = async () => {
      let admitted = 0
      for (let i = 0; i < 100; i++) if (await gate.accept(prevote(3, views++))) admitted++
      return admitted
    }
    expect(await flood()).toBe(64)
    expect(verifications()).toBe(64)
    clock.time += 1000
    expect(await flood()).toBe(20)
    // The others are heard as before.
    expect(await gate.accept(prevote(0, 0))).toBe(true)
  })

  it('does not hold against a validator what others say in its name', async () => {
    const { gate } = open()
    for (let view = 0; view < 100; view++) {
      const message = prevote(0, view)
      const forged = { ...message, signature: message.signature.slice().fill(1, 40) }
      await expect(gate.accept(forged)).rejects.toMatchObject({ code: 'vote-signature' })
    }
    expect(await gate.accept(prevote(0, 0))).toBe(true)
  })
})
