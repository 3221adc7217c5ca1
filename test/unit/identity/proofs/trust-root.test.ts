import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { displayHash } from '../../../../src/base/primitives/bytes.js'
import { readCheckpoint, readTrust } from '../../../../src/identity/proofs/trust-root.js'
import { lightWorld } from '../../../support/builders/light-world.js'

const sent = (miners: boolean) => lightWorld({ miners }).book.trust() as Record<string, unknown>
const [validators, miners] = [sent(false), sent(true)]
const { header: first } = lightWorld().book.page(1).block

describe('a Trust', () => {
  it('is read where it names the header of its own genesis', () => {
    expect(readTrust(validators)).toMatchObject({ devnet: false, work: undefined })
    expect(readTrust(miners)).toMatchObject({ validators: undefined })
    expect(readTrust({ ...validators, maxAge: 0, maxDrift: 0.5 })).toMatchObject({ maxAge: 0, maxDrift: 0.5 })
  })

  const retarget = miners['retarget'] as object
  it.each<[string, string, object]>([
    ['another chain than its header', 'chain', { ...validators, chain: displayHash(first.hash) }],
    [
      'a later block for genesis',
      'chain',
      { ...validators, chain: displayHash(first.hash), header: encodeBase64url(first.bytes) },
    ],
    ['no header', 'form', { ...validators, header: '' }],
    ['a negative age', 'form', { ...validators, maxAge: -1 }],
    ['an age that is no number', 'form', { ...validators, maxAge: '1' }],
    ['no age', 'form', { ...validators, maxAge: undefined }],
    ['a negative drift', 'form', { ...validators, maxDrift: -1 }],
    ['an interval of one block', 'form', { ...miners, retarget: { ...retarget, interval: 1 } }],
    ['no seconds between blocks', 'form', { ...miners, retarget: { ...retarget, spacing: 0 } }],
    ['another format', 'form', { ...validators, format: 'didledger/trust/2' }],
  ])('is refused with %s: %s', (_, failure, changed) => {
    expect(() => readTrust(changed)).toThrow(expect.objectContaining({ failure }))
  })

  it('may have an interval of two blocks, a second apart', () => {
    expect(readTrust({ ...miners, retarget: { interval: 2, spacing: 1 } }).work?.retarget).toEqual({
      interval: 2,
      spacing: 1,
    })
  })
})

describe('a Checkpoint', () => {
  const { book } = lightWorld()
  const sent = book.checkpoint(5)

  it('names a block of the chain, and its validators where it has some', () => {
    const { header } = book.page(5).block
    const { height, hash, keysHash } = readCheckpoint(sent, readTrust(validators))
    expect([height, displayHash(hash), keysHash?.length]).toEqual([5, header.id, 32])
    const mined = lightWorld({ miners: true }).book.checkpoint(5)
    expect(readCheckpoint(mined, readTrust(miners)).keysHash).toBeUndefined()
  })

  it.each<[string, string, object]>([
    ['another format', 'form', { format: 'didledger/checkpoint/2' }],
    ['another chain', 'chain', { chain: sent.hash }],
    ['no height', 'form', { height: undefined }],
    ['a hash of another length', 'form', { hash: `${sent.hash}00` }],
    ['no validators', 'form', { keysHash: undefined }],
  ])('is refused with %s: %s', (_, failure, changes) => {
    expect(() => readCheckpoint({ ...sent, ...changes }, readTrust(validators))).toThrow(
      expect.objectContaining({ failure }),
    )
  })
})
