import { afterEach, describe, expect, it } from 'vitest'
import { checkConfirm } from '../../../src/ledger/consensus/check-confirm.js'
import { sign } from '../../../src/base/crypto/keys.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { Reader } from '../../../src/base/primitives/codec.js'
import { confirmBytes, parseConfirm } from '../../../src/base/primitives/confirm.js'
import { Header } from '../../../src/base/primitives/header.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { Evidence } from '../../../src/voting/evidence.js'
import { signMessage } from '../../../src/voting/sign-message.js'
import { encodeMessage, parseMessage, type PrevoteMessage } from '../../../src/voting/tendermint/message.js'
import { craftBlock, craftConfirm } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'
import { testKey, testPublicKey } from '../../support/builders/spec.js'
import { TestNet, type TestNode } from '../../support/network/voting-net.js'

let net: TestNet | undefined
afterEach(async () => {
  await net?.close()
  net = undefined
})

const hash = (byte: number) => new Uint8Array(32).fill(byte)

function prevote(node: TestNode, person: number, plan: Partial<PrevoteMessage> = {}): Uint8Array {
  const genesis = node.test.chain.genesis.header.hash
  const unsigned = { kind: 'prevote', height: node.height() + 1, view: 0, blockHash: undefined, ...plan } as const
  return encodeMessage(signMessage({ ...unsigned, signer: testPublicKey(person) }, genesis, testKey(person)))
}

describe('a validator that contradicts itself', () => {
  it('is convicted by its own messages, also after a restart', async () => {
    net = new TestNet()
    const node = await net.add({ person: undefined })
    const [first, second] = [prevote(node, 2, { blockHash: hash(1) }), prevote(node, 2, { blockHash: hash(2) })]
    expect(await node.voting.receive(parseMessage(first))).toBe(true)
    expect(node.voting.evidence()).toEqual([])
    expect(await node.voting.receive(parseMessage(second))).toBe(true)
    await net.settle()
    const shown = (of: TestNode) =>
      of.voting.evidence().map((one) => ({ ...one, signer: toHex(one.signer), messages: [one.first, one.second] }))
    expect(shown(node)).toMatchObject([{ height: 1, view: 0, kind: 'prevote', signer: toHex(testPublicKey(2)) }])
    const values = node.voting.evidence().flatMap((one) => [one.first, one.second].map((bytes) => toHex(bytes)))
    expect(values.sort()).toEqual([toHex(first), toHex(second)].sort())
    expect(node.voting.evidence(1)).toHaveLength(1)
    expect(node.voting.evidence(2)).toEqual([])
    await net.remove(node)
    const again = await net.add({ person: undefined, store: node.store })
    expect(again.voting.evidence().map(({ kind }) => kind)).toEqual(['prevote'])
    expect(again.voting.status().alarm).toBeUndefined()
  })
})

describe('a flood', () => {
  it('of copies costs one verification, whatever they are signed with', async () => {
    net = new TestNet()
    const node = await net.add({ person: undefined })
    const bytes = prevote(node, 2)
    const before = net.verified
    const told = await Promise.all(Array.from({ length: 200 }, () => node.voting.receive(parseMessage(bytes))))
    expect(told.filter((isNew) => isNew)).toHaveLength(1)
    expect(net.verified - before).toBe(1)
    // The other form of the same signature says the same.
    const message = parseMessage(bytes) as PrevoteMessage
    const other = encodeMessage({ ...message, signature: new Uint8Array(64).fill(1) })
    expect(await node.voting.receive(parseMessage(other))).toBe(false)
    expect(net.verified - before).toBe(1)
  })

  it('of a forgery keeps nobody from hearing the real one', async () => {
    net = new TestNet()
    const node = await net.add({ person: undefined })
    const bytes = prevote(node, 2)
    const message = parseMessage(bytes) as PrevoteMessage
    const forged = encodeMessage({ ...message, signature: sign(hash(3), testKey(1)) })
    const answers = await Promise.allSettled(
      [forged, bytes, bytes].map((one) => node.voting.receive(parseMessage(one))),
    )
    expect(answers).toMatchObject([
      { reason: { code: 'vote-signature' } },
      { status: 'fulfilled', value: true },
      { status: 'fulfilled', value: false },
    ])
  })

  it('of different values by one validator is heard twice', async () => {
    net = new TestNet()
    const node = await net.add({ person: undefined })
    const before = net.verified
    for (let i = 1; i <= 20; i++) {
      expect(await node.voting.receive(parseMessage(prevote(node, 2, { blockHash: hash(i) })))).toBe(i <= 2)
    }
    expect(net.verified - before).toBe(2)
  })

  it('has a limit for what waits', async () => {
    net = new TestNet()
    const node = await net.add({ person: undefined })
    const bytes = prevote(node, 2)
    const message = parseMessage(bytes) as PrevoteMessage
    const forgeries = Array.from({ length: 1100 }, (_, i) => {
      const signature = new Uint8Array(64).fill(1)
      new DataView(signature.buffer).setUint32(0, i)
      return encodeMessage({ ...message, signature })
    })
    const answers = await Promise.allSettled(forgeries.map((one) => node.voting.receive(parseMessage(one))))
    const codes = answers.map((answer) =>
      answer.status === 'rejected' ? (answer.reason as { code: string }).code : '',
    )
    expect(codes.filter((code) => code === 'busy')).toHaveLength(1100 - 1024)
    expect(codes.filter((code) => code === 'vote-signature')).toHaveLength(1024)
    expect(await node.voting.receive(parseMessage(bytes))).toBe(true)
  })
})

describe('messages of another height', () => {
  it('are refused without a look', async () => {
    net = new TestNet()
    const node = await net.add({ person: undefined })
    const before = net.verified
    await expect(node.voting.receive(parseMessage(prevote(node, 2, { height: 2 })))).rejects.toMatchObject({
      code: 'vote-height',
    })
    expect(net.verified).toBe(before)
  })
})

describe('two confirmed blocks of one height', () => {
  it('are kept as evidence; the node keeps its own, votes no more, and says so after a restart too', async () => {
    net = await TestNet.four()
    const node = net.nodes[0] as TestNode
    const { chain } = node.test
    const other = craftBlock(chain)
    const confirm = confirmBytes(craftConfirm(node.test.spec, other))
    // Before there is a block of that height nothing contradicts anything.
    await node.voting.conflicting(other.header, confirm)
    expect(node.voting.status().alarm).toBeUndefined()
    await net.allAt(1, 12_000)
    const tip = chain.tip.header
    const forged = confirmBytes(craftConfirm(node.test.spec, other, { voters: [0, 1] }))
    await expect(node.voting.conflicting(other.header, forged)).rejects.toMatchObject({ code: 'confirm-quorum' })
    const own = node.test.reader.confirm(tip.hash)
    await node.voting.conflicting(tip, confirmBytes(own as NonNullable<typeof own>))
    expect(node.voting.status().alarm).toBeUndefined()

    await node.voting.conflicting(other.header, confirm)
    const { alarm, signing } = node.voting.status()
    expect(alarm).toMatch(/two confirmed blocks exist at height 1/)
    expect(signing).toEqual({ kind: 'alarm', text: alarm })
    expect(chain.tip.header.id).toBe(tip.id)
    const [kept] = node.voting.evidence(1)
    expect(kept?.kind).toBe('confirm')
    // Each proves itself: that it was confirmed, at this height and on this parent.
    for (const [proof, block] of [
      [kept?.first, tip],
      [kept?.second, other.header],
    ] as const) {
      const reader = new Reader(proof as Uint8Array)
      const header = Header.read(reader)
      expect([header.id, header.height, toHex(header.previous)]).toEqual([block.id, 1, toHex(tip.previous)])
      const confirmed = parseConfirm(reader.take(reader.remaining))
      expect(() => checkConfirm(node.test.spec, header, confirmed)).not.toThrow()
    }
    // It still follows what the others confirm.
    const { saves } = node.signs
    await net.allAt(2, 60_000)
    expect(node.signs.saves).toBe(saves)
    await net.remove(node)
    const again = await net.add({ person: 0, store: node.store, signs: node.signs })
    expect(again.voting.status().alarm).toBe(alarm)
  })

  it('are none where they are of two chains with the same validators', async () => {
    net = await TestNet.four()
    const other = await TestNet.four({ name: 'another' })
    try {
      const foreign = (other.nodes[0] as TestNode).test
      const { voting } = net.nodes[0] as TestNode
      await Promise.all([net, other].map((one) => one.allAt(2, 30_000)))
      for (const height of [1, 2]) {
        const { header } = foreign.chain.headers.activeAt(height)
        await voting.conflicting(header, foreign.database.get(tables.confirm.key(header.hash)) as Uint8Array)
      }
      expect(voting.status()).toMatchObject({ signing: { kind: 'voting' } })
      expect([voting.status().alarm, voting.evidence()]).toEqual([undefined, []])
    } finally {
      await other.close()
    }
  })
})

describe('evidence', () => {
  const one = (signer: number, view: number, size = 10) => ({
    ...{ height: 1, view, kind: 'prevote' as const, signer: testPublicKey(signer) },
    ...{ first: new Uint8Array(size), second: new Uint8Array(size) },
  })

  it('is kept once, up to so much of each validator, and of all in bytes', async () => {
    const test = await TestChain.open()
    const tip = () => ({ height: 0, hash: test.chain.tip.header.hash })
    const evidence = await Evidence.open(test.database, tip)
    for (let view = 0; view < 20; view++) await evidence.add(one(1, view))
    await evidence.add(one(1, 3, 20))
    await evidence.add(one(2, 0))
    expect(evidence.list()).toHaveLength(16 + 1)
    for (let i = 0; i < 80; i++) await evidence.add(one(3 + (i % 8), 1 + i, 30_000))
    expect(evidence.list()).toHaveLength(16 + 1 + 69)
    // Nobody's lies take the room of two confirms.
    await evidence.add({ ...one(1, 0, 30_000), kind: 'confirm' })
    expect(evidence.list()).toHaveLength(16 + 1 + 69 + 1)
    const again = await Evidence.open(test.database, tip)
    expect(again.list().map(({ view }) => view)).toEqual(evidence.list().map(({ view }) => view))
    await test.close()
  })
})
