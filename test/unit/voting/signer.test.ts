import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { OwnKey } from '../../../src/voting/key-holder.js'
import { Signer, type SigningOutlook, type SignReset } from '../../../src/voting/signer.js'
import { encodeMessage, type SignedMessage, type UnsignedMessage } from '../../../src/voting/tendermint/message.js'
import { quietLog } from '../../support/builders/chain.js'
import { testKey, testPublicKey } from '../../support/builders/spec.js'
import { MemorySigns } from '../../support/network/voting-net.js'

const genesis = sha256('genesis')
const none = { locked: undefined, valid: undefined }
const open = (store = new MemorySigns(), reset?: SignReset) =>
  Signer.open({
    holder: new OwnKey({ key: testKey(0), store, genesis }),
    genesis,
    log: quietLog(),
    ...(reset && { reset }),
  })
const at = (height: number, more: Partial<SigningOutlook> = {}): SigningOutlook => ({
  ...{ height, bestPeerHeight: 0, isBehind: false, fresh: false, alone: false },
  ...more,
})
const prevote = (height: number, view: number, block?: string): UnsignedMessage => {
  const blockHash = block === undefined ? undefined : sha256(block)
  return { kind: 'prevote', height, view, blockHash, signer: testPublicKey(0) }
}

describe('a key without a sign state', () => {
  it.each<[string, SigningOutlook, string]>([
    ['a peer has no block either', at(1), 'voting'],
    ['it is the only validator', at(1, { bestPeerHeight: undefined, alone: true }), 'voting'],
    ['no peer has said how far the chain is', at(1, { bestPeerHeight: undefined }), 'waits-for-peer'],
    ['a peer has a block', at(1, { bestPeerHeight: 1 }), 'sign-state-missing'],
    ['the chain has a block', at(2), 'sign-state-missing'],
    ['the chain has a block, and it is alone', at(2, { alone: true }), 'sign-state-missing'],
  ])('may sign only where the chain has not begun: %s', async (_, outlook, kind) => {
    const signer = await open()
    expect(signer.signing(outlook)).toEqual({ kind })
    await signer.begin(outlook)
    expect(signer.missing).toBe(kind !== 'voting')
  })

  it('that was lost votes again from the height after, once a block is confirmed meanwhile', async () => {
    const signer = await open(undefined, 'next')
    const waits = (reason: unknown) => ({ kind: 'reset-waits', for: reason })
    expect(signer.signing(at(7, { bestPeerHeight: undefined }))).toEqual(waits('peer'))
    expect(signer.signing(at(7, { bestPeerHeight: 9, isBehind: true }))).toEqual(waits('peer'))
    expect(signer.signing(at(7))).toEqual(waits({ height: 8 }))
    expect(signer.signing(at(8))).toEqual(waits('fresh-block'))
    expect(signer.signing(at(8, { fresh: true }))).toEqual({ kind: 'voting' })
    // Other nodes had more blocks: the height that was open is another one.
    signer.overtaken()
    expect(signer.signing(at(12, { fresh: true }))).toEqual(waits({ height: 13 }))
  })

  it('that was lost votes again though peers have each new block before this node', async () => {
    const signer = await open(undefined, 'next')
    const waits = (reason: unknown) => ({ kind: 'reset-waits', for: reason })
    for (const height of [7, 8]) {
      expect(signer.signing(at(height, { bestPeerHeight: height, isBehind: true }))).toEqual(waits('peer'))
      expect(signer.signing(at(height))).toEqual(waits({ height: height + 1 }))
    }
    // A block that was made before the start may be followed by the one that the key signed.
    expect(signer.signing(at(9, { bestPeerHeight: 9, isBehind: true }))).toEqual(waits('peer'))
    expect(signer.signing(at(9, { fresh: true }))).toEqual(waits({ height: 10 }))
    expect(signer.signing(at(9, { fresh: true, bestPeerHeight: 9, isBehind: true }))).toEqual(waits({ height: 10 }))
    expect(signer.signing(at(10, { fresh: true }))).toEqual({ kind: 'voting' })
    expect(signer.signing(at(10, { fresh: true, bestPeerHeight: 11, isBehind: true }))).toEqual(waits('peer'))
  })

  it('that was lost is told to vote at once where no other makes the block that it waits for', async () => {
    const signer = await open(undefined, 'next')
    const waits = (reason: unknown) => ({ kind: 'reset-waits', for: reason })
    for (const bestPeerHeight of [undefined, 6]) {
      expect(signer.signing(at(7, { bestPeerHeight, alone: true }))).toEqual(waits('own-block'))
    }
    expect(signer.signing(at(7, { bestPeerHeight: 9, isBehind: true, alone: true }))).toEqual(waits('peer'))
  })

  it('that was lost votes again at once where that is asked for', async () => {
    expect((await open(undefined, 'now')).signing(at(7))).toEqual({ kind: 'voting' })
  })
})

describe('signatures that a key did not make here', () => {
  it.each([
    ['are its own of before without a state', undefined, undefined, false],
    ['are its own of before where a reset begins the state', undefined, 'now', false],
    ['are its own of before after a reset', 5, 'next', false],
    ['show another process, or an older state, where it has one', 5, undefined, true],
  ] as const)('%s, until the tip is fresh', async (_, height, reset, expected) => {
    const store = new MemorySigns()
    if (height !== undefined) await (await open(store)).sign(prevote(height, 0), none)
    const signer = await open(store, reset)
    expect([6, 7].map((at) => signer.shownElsewhere(at, false))).toEqual([expected, expected])
    expect(signer.shownElsewhere(7, true)).toBe(true)
  })
})

describe('a key with a sign state', () => {
  it('signs at its height and above, not below', async () => {
    const store = new MemorySigns()
    await (await open(store)).sign(prevote(5, 0), none)
    for (const reset of [undefined, 'next'] as const) {
      const signer = await open(store, reset)
      expect(signer.signing(at(4))).toEqual({ kind: 'signed-above', height: 5 })
      expect([signer.signing(at(5)), signer.signing(at(6))]).toEqual([{ kind: 'voting' }, { kind: 'voting' }])
      expect([4, 5, 6].map((height) => signer.shownElsewhere(height, true))).toEqual([false, true, true])
    }
  })

  it('hands out what it has signed once more, and signs nothing else in its place', async () => {
    const store = new MemorySigns()
    const signer = await open(store)
    const signed = await signer.sign(prevote(5, 1, 'a'), none)
    expect(signed).toMatchObject({ kind: 'prevote', view: 1, blockHash: sha256('a') })
    for (const again of [signer, await open(store)]) {
      for (const block of ['a', 'b', undefined]) {
        const stored = (await again.sign(prevote(5, 1, block), none)) as SignedMessage
        expect(encodeMessage(stored)).toEqual(encodeMessage(signed as SignedMessage))
      }
      expect(await again.sign(prevote(5, 0, 'a'), none)).toBeUndefined()
      expect(await again.sign(prevote(4, 1, 'a'), none)).toBeUndefined()
    }
    expect(store.saves).toBe(1)
  })

  it('that cannot be written signs nothing any more', async () => {
    const store = new MemorySigns()
    const signer = await open(store)
    store.failing = true
    expect(await signer.sign(prevote(5, 1, 'a'), none)).toBeUndefined()
    expect(signer.signing(at(5))).toEqual({ kind: 'sign-state-unwritable', text: 'the disk is full' })
  })

  it('that is damaged signs nothing', async () => {
    const store = new MemorySigns()
    store.bytes = new Uint8Array(100)
    const signer = await open(store)
    expect(signer.signing(at(1)).kind).toBe('sign-state-damaged')
  })
})
