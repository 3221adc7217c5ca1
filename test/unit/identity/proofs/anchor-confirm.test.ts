import { describe, expect, it } from 'vitest'
import { quickSigner } from '../../../../src/base/crypto/quick-signer.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { type Confirm, confirmBytes } from '../../../../src/base/primitives/confirm.js'
import {
  compactConfirm,
  longestConfirm,
  quorumOf,
  readConfirm,
} from '../../../../src/identity/proofs/anchor-confirm.js'
import { failureOf, lightWorld } from '../../../support/builders/light-world.js'
import { confirmOf } from '../../../support/builders/proof-book.js'

const header = lightWorld().book.tip
const validators = Array.from({ length: 33 }, () => quickSigner())

/** So many validators, and the confirm of a block by all of them, as an anchor carries it with so many votes. */
const confirmBy = (count: number, votes = count) => {
  const signers = validators.slice(0, count)
  const keys = signers.map(({ publicKey }) => publicKey)
  const confirm = confirmOf(header, signers)
  return { keys, confirm, bytes: compactConfirm(confirm, keys, votes) }
}

const whole = (confirm: Confirm) => toHex(confirmBytes(confirm))
const read = (bytes: Uint8Array, keys: readonly Uint8Array[]) =>
  failureOf(Promise.resolve().then(() => whole(readConfirm(bytes, header, keys))))

describe('the confirm in an anchor', () => {
  it.each([1, 2, 7, 8, 9, 15, 16, 17, 32, 33])('is that of the block again, by %i validators', async (count) => {
    const { keys, confirm, bytes } = confirmBy(count)
    expect(bytes).toHaveLength(longestConfirm(count))
    expect(await read(bytes, keys)).toBe(whole(confirm))
    const votes = confirm.votes.slice(0, quorumOf(count))
    expect(await read(compactConfirm(confirm, keys), keys)).toBe(whole({ ...confirm, votes }))
  })

  it.each([1, 4, 9])('needs votes of a quorum: none of %i, or one too few, is no quorum', async (count) => {
    for (const votes of [0, quorumOf(count) - 1]) {
      const { keys, bytes } = confirmBy(count, votes)
      expect(await read(bytes, keys)).toBe('confirm-quorum')
    }
  })

  it.each([1, 4, 9])('of %i validators has a place for each of them, and nothing besides', async (count) => {
    const { keys, bytes } = confirmBy(count, 0)
    for (let length = 0; length < bytes.length; length++) {
      expect(await read(bytes.subarray(0, length), keys)).toBe('confirm-form')
    }
    expect(await read(Uint8Array.of(...bytes, 0), keys)).toBe('confirm-form')
    for (let place = count; place < 8 * Math.ceil(count / 8); place++) {
      const more = Uint8Array.of(...confirmBy(count).bytes, ...new Uint8Array(64))
      const at = longestConfirm(0) + (place >> 3)
      more[at] = (more[at] as number) | (0x80 >> (place & 7))
      expect(await read(more, keys)).toBe('confirm-form')
    }
  })
})
