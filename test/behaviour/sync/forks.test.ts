import { afterEach, describe, expect, it } from 'vitest'
import { stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { checkConfirm } from '../../../src/ledger/consensus/check-confirm.js'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import type { Verifier } from '../../../src/base/crypto/verifier.js'
import { pendingBytes, pendingHeaders } from '../../../src/network/sync/header-download.js'
import { blocksExchange } from '../../../src/network/wire/blocks-message.js'
import {
  headersAnswer,
  headersExchange,
  type HeaderUnit,
  headerUnitSize,
} from '../../../src/network/wire/headers-message.js'
import { auxPowBytes } from '../../../src/base/primitives/auxpow.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { workOf } from '../../../src/base/primitives/compact.js'
import { parseConfirm } from '../../../src/base/primitives/confirm.js'
import { Header } from '../../../src/base/primitives/header.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { craft, craftBlock, fieldsOf, solved } from '../../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { inOrder, proved, purse, wrapped } from '../../support/builders/side-proofs.js'
import { type SpecOverrides, testAddress, testPublicKey } from '../../support/builders/spec.js'
import { longChain, SyncNode, TestPeer, unitAt } from '../../support/network/sync.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function kept<T extends { close(): Promise<void> }>(thing: T): T {
  closing.push(() => thing.close())
  return thing
}

async function start(...args: Parameters<typeof SyncNode.start>): Promise<SyncNode> {
  return kept(await SyncNode.start(...args))
}

/** Another chain with the same blocks up to a height. */
async function copyOf(source: TestChain, height: number): Promise<TestChain> {
  const copy = await TestChain.open({ ...(source.spec.hasValidators ? oneValidator() : withoutValidators) })
  for (let h = 1; h <= height; h++) {
    const block = await source.reader.block(source.activeHeader(h))
    await copy.accept(block)
  }
  return copy
}

/** Believes every signature. */
const believing: Verifier = { verifyAll: async () => -1, close: async () => {} }

/** A chain of 60 blocks; the signature in the transfer of its 21st does not verify. */
async function badlySignedChain(overrides: SpecOverrides): Promise<TestChain> {
  const chain = await longChain(overrides, 20, { verifier: believing })
  const transfer = await chain.transfer(testAddress(30), 500n)
  const programs = transfer.programs.map(({ code, parameter }) => {
    return { code, parameter: parameter.map((byte, i) => (i === 40 ? byte ^ 1 : byte)) }
  })
  await chain.send(new Transaction({ ...fieldsOf(transfer), programs }))
  await chain.mine(40)
  return chain
}

describe('on a chain without validators', () => {
  it('a branch with more work is followed, one with less is not', async () => {
    const shared = kept(await longChain(withoutValidators, 30))
    const own = await copyOf(shared, 25)
    await own.mine(10)
    const peer = new TestPeer(shared)
    const node = await start(withoutValidators, [peer], { target: own })
    for (let i = 0; i < 20; i++) node.advance(1000)
    expect(node.height).toBe(35)
    expect(peer.asked.get('headers')).toBeUndefined()
    await shared.mine(20)
    peer.refresh()
    node.events.emit('status')
    await node.until(() => node.height === 50)
    expect(node.target.chain.tip.header.id).toBe(shared.chain.tip.header.id)
    expect(await stateDigest(own.database)).toBe(await stateDigest(shared.database))
    expect(peer.penalties).toEqual([])
  })

  it('a branch that turns out to have less work than was said costs the peer its connection', async () => {
    const shared = kept(await longChain(withoutValidators, 30))
    const own = await copyOf(shared, 25)
    await own.mine(10)
    const liar = new TestPeer(shared, { chainWork: 1n << 100n, tipHash: new Uint8Array(32).fill(3) })
    const node = await start(withoutValidators, [liar], { target: own })
    await node.until(() => liar.closed)
    expect(liar.penalties).toEqual(['peer-withheld'])
    expect(node.height).toBe(35)
    expect(liar.asked.get('blocks')).toBeUndefined()
  })

  it('headers without blocks hold nothing back, and are asked for three times', async () => {
    const more = kept(await longChain(withoutValidators, 80))
    const less = kept(await longChain(withoutValidators, 40))
    const asked: string[] = []
    const withholding = new TestPeer(more).answering(blocksExchange, async (hashes) => {
      asked.push(...hashes.map((hash) => Buffer.from(hash).toString('hex')))
      return hashes.map(() => new Uint8Array(0))
    })
    const honest = new TestPeer(less)
    const node = await start(withoutValidators, [withholding, honest])
    await node.until(() => node.height === 40)
    expect(withholding.closed).toBe(true)
    const times = asked.filter(
      (hash) => hash === Buffer.from(more.chain.headers.activeHash(1) as Uint8Array).toString('hex'),
    )
    expect(times.length).toBe(3)
    expect(honest.penalties).toEqual([])
    await node.until(() => node.sync.progress().stage === 'idle')
  })

  it('a block that its first teller kept back is taken from whoever has it', async () => {
    const source = kept(await longChain(withoutValidators, 20))
    const thief = new TestPeer(source).answering(blocksExchange, async (hashes) => hashes.map(() => new Uint8Array(0)))
    const node = await start(withoutValidators, [thief])
    await node.until(() => thief.closed)
    const [empty, honest] = [new TestPeer(source), new TestPeer(source)]
    empty.answering(blocksExchange, async (hashes) => hashes.map(() => new Uint8Array(0)))
    node.join(empty)
    await node.until(() => (empty.asked.get('blocks') ?? 0) > 0, 30)
    await node.until(() => node.sync.progress().stage === 'idle', 30)
    // Who does not have it either is asked once, and not charged: it told of nothing.
    expect([empty.asked.get('blocks'), empty.penalties]).toEqual([1, []])
    expect(node.height).toBe(0)
    node.join(honest)
    await node.until(() => node.height === 20, 30)
    expect([honest.penalties, honest.closed]).toEqual([[], false])
  })

  it('a branch with a block that breaks a rule costs who told of it, and another is followed', async () => {
    const bad = kept(await badlySignedChain(withoutValidators))
    const good = kept(await longChain(withoutValidators, 40))
    const [liar, honest] = [new TestPeer(bad), new TestPeer(good)]
    const node = await start(withoutValidators, [liar, honest])
    await node.until(() => node.height === 40)
    expect(liar.penalties).toEqual(['tx-signature'])
    expect(liar.closed).toBe(true)
    expect(honest.penalties).toEqual([])
    expect(node.target.chain.headers.get(bad.chain.headers.activeHash(21) as Uint8Array)?.status).toBe('invalid')
    // Told again by somebody else it is refused at sight.
    const again = new TestPeer(bad)
    node.join(again)
    await node.until(() => again.closed)
    expect(node.height).toBe(40)
  })

  it('a new tip costs who told of it when it is invalid, even for what costs nothing in a transaction', async () => {
    const own = await longChain(withoutValidators, 3)
    const { chain } = own
    const nowhere = { txid: new Uint8Array(32).fill(5), index: 0 }
    const bad = craftBlock(chain, { transactions: [craft(chain.spec, [nowhere], [{ to: 30, value: 1n }], [10])] })
    const peer = new TestPeer(own).answering(blocksExchange, async () => [bad.bytes])
    const node = await start(withoutValidators, [peer], { target: own })
    const { header, auxPow } = bad
    const unit = { header, auxPow: auxPowBytes(auxPow), confirm: new Uint8Array(0), size: bad.bytes.length }
    const told = node.sync.announced(peer, unit)
    await expect(told).rejects.toMatchObject({ code: 'block-invalid' })
    await expect(told).rejects.toThrow('tx-input-unknown')
  })

  it('of a block beside the chain with less work no message is told on', async () => {
    const own = await longChain(withoutValidators, 3)
    const aside = craftBlock(own.chain, { parent: own.activeHeader(1) })
    const peer = new TestPeer(own)
    const node = await start(withoutValidators, [peer], { target: own })
    const { header, auxPow } = aside
    for (const size of [1, 2]) {
      const unit = { header, auxPow: auxPowBytes(auxPow), confirm: new Uint8Array(0), size }
      expect(await node.sync.announced(peer, unit)).toBe(false)
    }
  })

  it('a chain that leaves the branch far below its end is followed, however few headers fit into an answer', async () => {
    const other = kept(await longChain(withoutValidators, 260))
    const better = kept(await copyOf(other, 260))
    await other.mine(300)
    await better.mine(340)
    const silent = () => new Promise<never>(() => {})
    const liar = new TestPeer(other).answering(blocksExchange, silent)
    const node = await start(withoutValidators, [liar])
    await node.until(() => node.sync.held.headers === 560)
    const honest = new TestPeer(better).answering(headersExchange, async (_question, units) => {
      let room = headersAnswer
      const large = (await units()).map((unit) =>
        unit.header.height > 260 ? unit : { ...unit, auxPow: new Uint8Array(16_000) },
      )
      return large.filter((unit) => (room -= headerUnitSize(unit)) >= 0)
    })
    node.join(honest)
    await node.until(() => node.height === 600 || honest.closed)
    expect([honest.penalties, node.height]).toEqual([[], 600])
  })

  it('a long chain that had less work than the branch is looked at again when that is given up', async () => {
    const source = kept(await longChain(withoutValidators, 1))
    const { genesis } = source.chain
    /** Headers on top of genesis, without blocks. */
    const headerChain = (count: number, seed: number): HeaderUnit[] => {
      const { version, bits } = genesis.header
      let last = genesis.header
      return Array.from({ length: count }, () => {
        const next = { previous: last.hash, time: last.time + 1, height: last.height + 1 }
        last = new Header({ version, bits, nonce: seed, merkleRoot: new Uint8Array(32), ...next })
        return { header: last, auxPow: auxPowBytes(solved(last)), confirm: new Uint8Array(0), size: 500 }
      })
    }
    const peerOf = (units: readonly HeaderUnit[]) => {
      const { hash, height } = (units.at(-1) as HeaderUnit).header
      const claims = { tipHash: hash, tipHeight: height, chainWork: BigInt(height + 1) * workOf(genesis.header.bits) }
      return new TestPeer(source, claims).answering(headersExchange, async ({ locator, count }) => {
        const heights = new Map(units.map(({ header }) => [toHex(header.hash), header.height]))
        const from = Math.max(0, ...locator.map((named) => heights.get(toHex(named)) ?? 0))
        return units.slice(from, from + count)
      })
    }
    let given = (_: Uint8Array[]) => {}
    const nothing = new Promise<Uint8Array[]>((resolve) => (given = resolve))
    const first = peerOf(headerChain(3100, 1)).answering(blocksExchange, () => nothing)
    const node = await start(withoutValidators, [first])
    await node.until(() => node.sync.held.headers === 3100)
    // More of it is not looked at than this, while the other one is followed.
    const units = headerChain(3300, 2)
    const own = new Set(units.map(({ header }) => toHex(header.hash)))
    const long = peerOf(units).answering(blocksExchange, async ([hash = new Uint8Array(0)]) =>
      own.has(toHex(hash)) ? new Promise<never>(() => {}) : [],
    )
    node.join(long)
    await node.until(() => node.sync.progress().stage === 'blocks' && (long.asked.get('headers') ?? 0) > 2)
    const headersOf = (peer: TestPeer) => peer.asked.get('headers') ?? 0
    const before = headersOf(long)
    for (let i = 0; i < 20; i++) {
      node.advance(100)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect([node.sync.held.headers, headersOf(long)]).toEqual([3100, before])
    given([])
    await node.until(() => node.sync.held.headers === 3300, 60)
    expect([first.closed, long.penalties]).toEqual([true, []])
  })

  it('headers without end are held up to a limit', async () => {
    const honest = new TestPeer(kept(await longChain(withoutValidators, 30)))
    const flood = new TestPeer(honest.source, {
      chainWork: 1n << 200n,
      tipHeight: 4_000_000,
      tipHash: new Uint8Array(32).fill(8),
    })
    const made = new Map<string, HeaderUnit>()
    let last = honest.source.chain.genesis.header
    flood.answering(headersExchange, async ({ locator }) => {
      const from = made.get(Buffer.from(locator[0] ?? []).toString('hex'))?.header ?? honest.source.chain.genesis.header
      last = from
      return Array.from({ length: 1000 }, () => {
        const { version, merkleRoot, bits, nonce } = honest.source.chain.genesis.header
        last = new Header({
          version,
          merkleRoot,
          bits,
          nonce,
          previous: last.hash,
          time: last.time + 1,
          height: last.height + 1,
        })
        const unit = { header: last, auxPow: auxPowBytes(solved(last)), confirm: new Uint8Array(0), size: 500 }
        made.set(Buffer.from(last.hash).toString('hex'), unit)
        return unit
      })
    })
    flood.answering(blocksExchange, async (hashes) => hashes.map(() => new Uint8Array(0)))
    const node = await start(withoutValidators, [flood, honest])
    let most = 0
    await node.until(() => {
      most = Math.max(most, node.sync.held.headers)
      return node.height === 30 && flood.closed
    })
    expect(most).toBeLessThan(pendingHeaders + 1000)
    expect(most * 500).toBeLessThan(2 * pendingBytes)
    expect(honest.penalties).toEqual([])
  })

  it('headers ahead of the clock are taken when their time has come', async () => {
    const ahead = kept(await TestChain.open(withoutValidators))
    const now = ahead.clock.time
    await ahead.mine(3)
    ahead.clock.time += 3 * 3600 * 1000
    await ahead.mine(3)
    const peer = new TestPeer(ahead)
    ahead.clock.time = now
    const node = await start(withoutValidators, [peer])
    await node.until(() => node.height === 3)
    expect(peer.penalties).toEqual([])
    const reason = 'the blocks of the peers that have more are too far ahead of the clock'
    await node.until(() => node.sync.progress().stage === 'waiting')
    expect(node.sync.progress()).toMatchObject({ reason, height: 3 })
    expect(node.sync.behindByClock).toBe(true)
    // One of three is not most of them.
    for (let i = 0; i < 2; i++) node.join(new TestPeer(node.target))
    await node.until(() => !node.sync.behindByClock)
    node.advance(3600 * 1000 + 60_000)
    await node.until(() => node.height === 6)
    await node.until(() => node.sync.progress().stage === 'idle')
    expect(node.sync.progress().reason).toBe('no peer has anything better')
    expect(node.sync.behindByClock).toBe(false)
    expect(peer.closed).toBe(false)
  })
})

describe('on a chain with validators', () => {
  it('a confirm with a wrong signature costs the peer its connection', async () => {
    const source = kept(await longChain(oneValidator(), 50))
    const liar = new TestPeer(source, { tipHeight: 60 }).answering(headersExchange, async (_question, honest) => {
      const units = await honest()
      return units.map((unit, i) => {
        return i === 30 ? { ...unit, confirm: unit.confirm.map((byte, at) => (at === 80 ? byte ^ 1 : byte)) } : unit
      })
    })
    const node = await start(oneValidator(), [liar])
    await node.until(() => liar.closed)
    expect(liar.penalties).toEqual(['confirm-signature'])
    const honest = new TestPeer(source)
    node.join(honest)
    await node.until(() => node.height === 50)
  })

  it('the confirm of another block than the own one is told of', async () => {
    const source = kept(await longChain(oneValidator(), 30))
    const own = await copyOf(source, 20)
    await own.mine(3)
    const peer = new TestPeer(source)
    const node = await start(oneValidator(), [peer], { target: own })
    await node.until(() => node.conflicts.length > 0)
    expect(node.conflicts).toEqual([unitAt(source, 21).confirm])
    expect(node.height).toBe(23)
    await node.until(() => node.sync.progress().stage === 'idle')
    // What is told of a block further up leads to the one that stands on the own chain: only that proves anything.
    await expect(node.sync.announced(peer, unitAt(source, 22))).rejects.toMatchObject({ code: 'block-stale' })
    await node.until(() => node.conflicts.length > 1)
    expect(node.conflicts).toEqual([21, 21].map((height) => unitAt(source, height).confirm))
    await expect(node.sync.announced(peer, unitAt(source, 21))).rejects.toMatchObject({ code: 'block-stale' })
    expect(node.conflicts).toHaveLength(3)
    expect(peer.penalties).toEqual([])
  })

  it('confirms of another chain with the same validator prove nothing, whatever their height', async () => {
    const own = await longChain(oneValidator(), 20)
    const foreign = kept(await longChain({ ...oneValidator(), name: 'another' }, 40))
    const peer = new TestPeer(own)
    const node = await start(oneValidator(), [peer], { target: own })
    await expect(node.sync.announced(peer, unitAt(foreign, 1))).rejects.toMatchObject({ code: 'block-stale' })
    await expect(node.sync.announced(peer, unitAt(foreign, 20))).rejects.toMatchObject({ code: 'block-stale' })
    expect(await node.sync.announced(peer, unitAt(foreign, 40))).toBe(false)
    expect(node.sync.progress().catchingUp).toBe(false)
    await node.until(() => (peer.asked.get('headers') ?? 0) > 0 && node.sync.progress().stage === 'idle')
    expect(node.sync.progress()).toMatchObject({ catchingUp: false, height: 20, target: 20 })
    expect([node.conflicts, node.target.log.errors]).toEqual([[], []])
    expect([peer.penalties, peer.closed]).toEqual([[], false])
  })

  it('what is confirmed on top of the own chain is not forgotten where a block of it cannot be connected', async () => {
    const bad = kept(await badlySignedChain(oneValidator()))
    const node = await start(oneValidator(), [new TestPeer(bad)])
    await node.until(() => node.target.log.errors.length > 0)
    expect(node.sync.progress()).toMatchObject({ catchingUp: true, height: 20, target: 60 })
  })

  it('a block that breaks a rule although it is confirmed is reported, costs nobody anything and is not asked for again', async () => {
    const bad = kept(await badlySignedChain(oneValidator()))
    const peer = new TestPeer(bad)
    const node = await start(oneValidator(), [peer])
    await node.until(() => node.target.log.errors.length > 0)
    expect(node.height).toBe(20)
    expect([peer.penalties, peer.closed]).toEqual([[], false])
    expect(node.target.log.errors.map(({ message }) => message).join()).toMatch(/a confirmed block breaks a rule/)
    const again = new TestPeer(bad)
    node.join(again)
    for (let i = 0; i < 30; i++) {
      node.advance(1000)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect(again.asked.get('blocks')).toBeUndefined()
  })

  it('a confirmed block with a proof of side-chain work that its chain has is refused like any other', async () => {
    const source = kept(await TestChain.open(inOrder))
    const coin = await purse(source)
    const prove = async (blockHeight: number) => {
      await source.accept(craftBlock(source.chain, { transactions: [await wrapped(source, coin(), { blockHeight })] }))
    }
    await prove(9)
    // Its validator runs a program without the rule.
    Object.assign(source.spec, { sideChainOrder: false })
    await prove(9)
    await source.mine(3)
    const peer = new TestPeer(source)
    const node = await start(inOrder, [peer])
    await node.until(() => node.target.log.errors.length > 0)
    expect([node.height, proved(node.target)]).toEqual([2, 9])
    expect(node.target.log.errors.map(({ fields }) => fields.code)).toEqual(['tx-side-chain-proved'])
    expect([peer.penalties, peer.closed]).toEqual([[], false])
  })

  it('nobody pays for an upgrade of the validators that this node does not have', async () => {
    const upgrades = [{ height: 10, name: 'other', parameters: { validators: [toHex(testPublicKey(1))] } }]
    const source = kept(await longChain({ ...oneValidator(), upgrades }, 8))
    const peers = [1, 2, 3].map(() => new TestPeer(source))
    const node = await start(oneValidator(), peers)
    await node.until(() => node.height === 8)
    const before = peers.map(({ asked }) => asked.get('blocks') ?? 0)
    // It names the validators of the next height, which here are others.
    await source.mine()
    for (const peer of peers) {
      const told = node.sync.announced(peer, unitAt(source, 9))
      if (peer === peers[0]) await expect(told).rejects.toMatchObject({ code: 'peer-upgrades' })
      else expect(await told).toBe(false)
      peer.refresh()
    }
    expect(node.sync.progress()).toMatchObject({ height: 8, target: 9 })
    node.events.emit('status')
    for (let i = 0; i < 30; i++) {
      node.advance(1000)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect(peers.map(({ penalties, closed }) => [penalties, closed])).toEqual(peers.map(() => [[], false]))
    const asked = peers.map((peer, i) => (peer.asked.get('blocks') ?? 0) - (before[i] ?? 0))
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(1)
    expect(node.target.log.errors.map(({ fields }) => fields.code)).toEqual(['coinbase-validators'])
  })
})

describe.each([
  ['with a validator', oneValidator()],
  ['without validators', withoutValidators],
])('a block assumed to be valid, on a chain %s', (_, overrides) => {
  it('spares the signatures below it, once it is on the chain of the peers', async () => {
    const source = kept(await badlySignedChain(overrides))
    const assumed = { height: 50, hash: source.chain.headers.activeHash(50) as Uint8Array }
    const transfer = await source.send(await source.transfer(testAddress(30), 700n))
    await source.mine()
    const checked: string[] = []
    const inline = createInlineVerifier()
    const verifier: Verifier = {
      ...inline,
      verifyAll: (checks) => {
        for (const { code, message } of checks) checked.push(`${code} ${toHex(message)}`)
        return inline.verifyAll(checks)
      },
    }
    const target = await TestChain.open(overrides, { verifier })
    const node = await start(overrides, [new TestPeer(source)], { target, verifier, assumeValid: assumed })
    await node.until(() => node.height === 61)
    // Those of the blocks above it, each once, and none of those below.
    const above = Array.from({ length: 11 }, (_block, i) => unitAt(source, 51 + i)).filter(
      () => source.spec.hasValidators,
    )
    const confirms = above.flatMap(({ header, confirm }) => checkConfirm(source.spec, header, parseConfirm(confirm)))
    const expected = confirms.map(({ code, message }) => `${code} ${toHex(message)}`)
    expect(checked.sort()).toEqual([...expected, `tx-signature ${toHex(transfer.unsigned)}`].sort())
    expect(await stateDigest(node.target.database)).toBe(await stateDigest(source.database))
    expect(node.target.log.errors).toEqual([])
  })

  it('is not believed where the chain has another block at its height', async () => {
    const source = kept(await badlySignedChain(overrides))
    const assumed = { height: 50, hash: source.chain.headers.activeHash(49) as Uint8Array }
    const peer = new TestPeer(source)
    const node = await start(overrides, [peer], { assumeValid: assumed })
    const { chain, log } = node.target
    await node.until(() => peer.closed || log.errors.length > 0)
    expect(node.height).toBe(20)
    // Of a confirmed block it is no peer's fault.
    expect(peer.penalties).toEqual(chain.spec.hasValidators ? [] : ['tx-signature'])
  })

  it.each([
    ['a transaction', 1, 'block-merkle-root'],
    ['a program', 21, 'coinbase-witness-root'],
  ])('takes nothing but signatures on trust: a byte of %s is not', async (_part, height, code) => {
    const source = kept(await badlySignedChain(overrides))
    const { chain } = source
    const assumed = { height: 50, hash: chain.headers.activeHash(50) as Uint8Array }
    const changed = toHex(chain.headers.activeHash(height) as Uint8Array)
    const mutating = new TestPeer(source).answering(blocksExchange, async (hashes, honest) => {
      return (await honest()).map((block, i) => {
        const found = toHex(hashes[i] as Uint8Array) === changed
        return found ? block.map((byte, at) => (at === block.length - 30 ? byte ^ 1 : byte)) : block
      })
    })
    const node = await start(overrides, [mutating], { assumeValid: assumed })
    await node.until(() => mutating.penalties.length > 0)
    expect(mutating.penalties[0]).toBe(code)
    expect(node.height).toBeLessThan(height)
  })

  it('is looked for at another peer when the first one does not have it', async () => {
    const source = kept(await badlySignedChain(overrides))
    const other = kept(await longChain(overrides, 70))
    const assumed = { height: 50, hash: source.chain.headers.activeHash(50) as Uint8Array }
    const [stranger, peer] = [new TestPeer(other), new TestPeer(source)]
    stranger.answering(blocksExchange, async (hashes) => hashes.map(() => new Uint8Array(0)))
    const node = await start(overrides, [stranger, peer], { assumeValid: assumed })
    await node.until(() => node.height === 60)
    expect(node.target.chain.tip.header.id).toBe(source.chain.tip.header.id)
  })
})
