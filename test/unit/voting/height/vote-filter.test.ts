import { describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../../src/crypto/inline.js'
import { SignatureCache } from '../../../../src/crypto/signature-cache.js'
import { sha256 } from '../../../../src/primitives/hash.js'
import { parseSpec } from '../../../../src/primitives/spec.js'
import { VoteFilter } from '../../../../src/voting/height/vote-filter.js'
import { signMessage } from '../../../../src/voting/sign-message.js'
import type { SignedMessage } from '../../../../src/voting/tendermint/message.js'
import { testKey, testPublicKey, testSpec } from '../../../support/builders/spec.js'

const genesis = sha256('genesis')
const height = 7

function prevote(person: number, view: number): SignedMessage {
  const signer = testPublicKey(person)
  return signMessage({ kind: 'prevote', height, view, blockHash: undefined, signer }, genesis, testKey(person))
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
