import { afterEach, describe, expect, it } from 'vitest'
import type { KnownHeader } from '../../../src/ledger/chain/header-index.js'
import { mapKey } from '../../../src/base/primitives/bytes.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { signingText } from '../../../src/voting/signing-state.js'
import { blockOf, parseMessage, signerOf, stepOf, viewOf } from '../../../src/voting/tendermint/message.js'
import { quietLog } from '../../support/builders/chain.js'
import { testPublicKey } from '../../support/builders/spec.js'
import { MemorySigns, TestNet, type TestNode } from '../../support/network/voting-net.js'

let net: TestNet
afterEach(() => net.close())

const signing = (node: TestNode) => signingText(node.voting.status().signing)

/** Notes what a person says, by height, view and step; fails where it says two things. Others hear it while `heard`. */
function listen(person: number, heard = true): Map<string, string> {
  const said = new Map<string, string>()
  net.filter = (bytes) => {
    const message = parseMessage(bytes)
    if (message.kind === 'proof' || Buffer.compare(signerOf(message), testPublicKey(person)) !== 0) return heard
    const place = `${message.height} ${viewOf(message)} ${stepOf(message)}`
    const block = blockOf(message)
    const value = block === undefined ? 'nil' : mapKey(block)
    expect(said.get(place) ?? value).toBe(value)
    said.set(place, value)
    return heard
  }
  return said
}

describe('a validator that comes back', () => {
  it('says what it said before, and nothing else, and finds the body on its disk', async () => {
    net = await TestNet.four()
    net.healing = false
    // Nobody hears anybody: the sponsor has proposed and voted alone.
    const before = listen(1, false)
    await net.advance(10_100)
    const proposed = before.get('1 0 propose')
    expect(proposed).toBeDefined()
    const sponsor = net.nodes[1] as TestNode
    const { store, signs } = sponsor
    await net.remove(sponsor)
    const said = listen(1)
    const again = await net.add({ person: 1, store, signs })
    await net.allAt(1, 2_500)
    expect(said.get('1 0 propose')).toBe(proposed)
    expect(mapKey(again.test.chain.tip.header.hash)).toBe(proposed)
    expect(new Set(net.nodes.map(({ test }) => test.chain.tip.header.id)).size).toBe(1)
    expect(signing(again)).toBe('yes')
  })

  it('goes on at a later height as well', async () => {
    net = await TestNet.four()
    await net.allAt(2, 25_000)
    listen(2)
    const third = net.nodes[2] as TestNode
    const { store, signs } = third
    await net.remove(third)
    await net.add({ person: 2, store, signs })
    ;(net.nodes[0] as TestNode).online = false
    await net.allAt(4, 90_000, net.nodes.slice(1))
  })
})

describe('a sign state that is not there', () => {
  it('is begun at height 1, once a peer has said that there is nothing yet', async () => {
    net = new TestNet()
    const alone = await net.add({ person: 0 })
    expect(signing(alone)).toMatch(/waits for a peer/)
    await net.advance(30_000)
    expect(alone.signs.saves).toBe(0)
    await net.add({ person: 1 })
    expect(signing(alone)).toBe('yes')
  })

  it('is begun with the chain, though others may confirm its first blocks without the key', async () => {
    net = new TestNet()
    const node = await net.add({ person: 0 })
    await net.add({ person: 1 })
    await net.settle()
    expect(node.signs.saves).toBe(1)
    node.voting.setBestPeerHeight(7)
    expect(signing(node)).toMatch(/catches up/)
  })

  it('is not begun where a peer has a block already', async () => {
    net = await TestNet.four()
    await net.allAt(1, 12_000)
    const [, second] = net.nodes as [TestNode, TestNode]
    await net.remove(second)
    // Database and sign state are both lost.
    const warnings: unknown[] = []
    const log = { ...quietLog(), warn: ({ reason }: Record<string, unknown>) => void warnings.push(reason) }
    const again = await net.add({ person: 1 }, true, { log })
    expect(signing(again)).toMatch(/missing.*--reset-sign-state/)
    await net.allAt(2, 30_000)
    expect(again.height()).toBe(2)
    expect(signing(again)).toMatch(/missing/)
    expect(again.signs.saves).toBe(0)
    // Whoever gave it the key hears of it, once; so does who gave it a key of nobody.
    await net.add({ person: 9 }, true, { log })
    expect(warnings).toEqual([expect.stringMatching(/missing.*--reset-sign-state/), 'not-validator'])
  })

  it('is begun after a reset, above the height that was open and the first block made since', async () => {
    net = await TestNet.four()
    await net.allAt(2, 25_000)
    const [, second] = net.nodes as [TestNode, TestNode]
    await net.remove(second)
    const again = await net.add({ person: 1, reset: 'next' })
    expect(signing(again)).toMatch(/votes from height 4|catches up|reset/)
    await net.allAt(2, 5_000)
    await net.advance(1_000)
    expect(signing(again)).toBe('the sign state was reset: votes from height 4 at the earliest')
    await net.allAt(3, 30_000)
    // By the clock of another node that block may have been made before the start.
    expect(signing(again)).toBe('the sign state was reset: waits for a block made after the start of this node')
    expect(again.signs.saves).toBe(0)
    await net.allAt(4, 30_000)
    // Begun at the height after, and nothing is signed yet.
    expect(again.signs.saves).toBe(1)
    await net.allAt(5, 30_000)
    expect(again.signs.saves).toBeGreaterThan(1)
    expect(signing(again)).toBe('yes')
  })

  it('is begun after a reset whatever height a liar claims', async () => {
    net = await TestNet.four()
    await net.allAt(1, 12_000)
    const [, second] = net.nodes as [TestNode, TestNode]
    const { store } = second
    await net.remove(second)
    const again = await net.add({ person: 1, store, reset: 'next' })
    again.voting.setBestPeerHeight(4_000_000_000)
    expect(signing(again)).toMatch(/waits until it has caught up/)
    await net.advance(2_000)
    expect(signing(again)).toBe('the sign state was reset: votes from height 3 at the earliest')
    await net.allAt(3, 40_000)
    expect(signing(again)).toBe('yes')
  })

  it('is begun after a reset above all blocks that came in a run, though a liar was found out before', async () => {
    net = await TestNet.four()
    const [first, second] = net.nodes as [TestNode, TestNode]
    const { store } = second
    await net.remove(second)
    await net.allAt(3, 90_000)
    net.healing = false
    net.filter = () => false
    const again = await net.add({ person: 1, store, reset: 'next' })
    expect(signing(again)).toMatch(/waits until it has caught up/)
    await net.advance(10_000)
    expect(signing(again)).toBe('the sign state was reset: votes from height 2 at the earliest')
    const { reader } = first.test
    const blocks = await Promise.all(
      [1, 2, 3].map(async (height) => {
        const known = reader.headerAt(height) as KnownHeader
        const confirm = first.test.database.get(tables.confirm.key(known.header.hash)) as Uint8Array
        return { block: (await reader.block(known)).bytes, confirm }
      }),
    )
    await again.test.chain.acceptBlocks(blocks)
    await net.settle()
    expect(signing(again)).toBe('the sign state was reset: votes from height 5 at the earliest')
  })

  it('is begun after a reset at no height that may have been signed, though blocks come late and one by one', async () => {
    net = await TestNet.four()
    const [first, second] = net.nodes as [TestNode, TestNode]
    await net.allAt(3, 90_000)
    await net.advance(1_100)
    await net.remove(second)
    net.healing = false
    net.filter = () => false
    const again = await net.add({ person: 1, reset: 'next' })
    const begun = again.test.clock.time
    again.voting.setBestPeerHeight(1_000)
    await net.advance(10_500)
    expect(signing(again)).toBe('the sign state was reset: votes from height 2 at the earliest')
    // From here on it learns one block after the other, of which the fourth was open when its state was lost.
    while (again.height() < 3) {
      await net.heal()
      expect([signing(again) === 'yes', again.signs.saves]).toEqual([false, 0])
    }
    net.healing = true
    net.filter = () => true
    await net.until(() => signing(again) === 'yes', 90_000)
    const { header } = again.test.chain.tip
    expect(header.height).toBeGreaterThan(3)
    expect(header.time * 1000).toBeGreaterThan(begun + 10_000)
    await net.allAt(first.height() + 2, 60_000)
    expect(new Set(net.nodes.map(({ test }) => test.chain.tip.header.id)).size).toBe(1)
  })

  it('is begun at once after a reset that says so, for a chain that waits for this key', async () => {
    net = await TestNet.four()
    await net.allAt(1, 12_000)
    const [first, second] = net.nodes as [TestNode, TestNode]
    first.online = false
    const { store } = second
    await net.remove(second)
    const without = await net.add({ person: 1, store })
    await net.advance(30_000)
    expect(without.height()).toBe(1)
    await net.remove(without)
    const again = await net.add({ person: 1, store, reset: 'now' })
    await net.allAt(2, 120_000, net.nodes.slice(1))
    expect(again.signs.saves).toBeGreaterThan(0)
  })

  it('does not need a peer where nobody else votes', async () => {
    net = new TestNet({ validators: [Buffer.from(testPublicKey(0)).toString('hex')] })
    const alone = await net.add({ person: 0 })
    await net.allAt(2, 25_000)
    expect(signing(alone)).toBe('yes')
  })
})

describe('a sign state that is ahead of the chain', () => {
  it('is not gone below: the node follows until it is there again', async () => {
    net = await TestNet.four()
    const [, second, , fourth] = net.nodes as [TestNode, TestNode, TestNode, TestNode]
    // The first block is confirmed by the other three, so that its votes tell the key its own.
    fourth.online = false
    await net.until(() => second.height() === 1, 30_000)
    fourth.online = true
    await net.allAt(2, 30_000)
    const { signs } = second
    await net.remove(second)
    // The database is lost, what was signed is not.
    const again = await net.add({ person: 1, signs })
    expect(signing(again)).toMatch(/^the key has signed at height [23] already, and signs nothing below$/)
    await net.allAt(3, 30_000)
    expect(signing(again)).toBe('yes')
    expect(again.test.log.errors).toEqual([])
  })
})

describe('a key on two nodes', () => {
  it('is told as an error by the one that hears of the other', async () => {
    net = await TestNet.four()
    const twin = await net.add({ person: 1 })
    await net.allAt(1, 12_000)
    expect(twin.test.log.errors.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/another node votes with the key of this one/),
    )
    expect((net.nodes[0] as TestNode).test.log.errors).toEqual([])
  })
})

describe('a key that moved to another node without its sign state', () => {
  it.each([undefined, 'next', 'now'] as const)(
    'hears what it signed before without an error, and of a second process with one (reset: %s)',
    async (reset) => {
      net = await TestNet.four()
      const [, second, third, fourth] = net.nodes as [TestNode, TestNode, TestNode, TestNode]
      // The blocks are confirmed by votes of the key.
      fourth.online = false
      await net.allAt(2, 60_000, [second, third])
      fourth.online = true
      const { signs } = second
      await net.remove(second)
      const moved = await net.add({ person: 1, ...(reset && { reset }) })
      const heard = moved.voting.received
      await net.until(() => moved.height() >= 2, 5_000)
      expect(moved.voting.received).toBeGreaterThan(heard)
      expect(moved.test.log.errors).toEqual([])
      await net.add({ person: 1, signs })
      await net.until(() => moved.test.log.errors.length > 0, 60_000)
      expect(moved.test.log.errors[0]?.message).toMatch(/another node votes with the key of this one/)
    },
  )
})

describe('a sign state that is damaged', () => {
  it('is told, and nothing is signed until a reset', async () => {
    net = new TestNet()
    const signs = new MemorySigns()
    signs.bytes = Uint8Array.of(1, 2, 3)
    const node = await net.add({ person: 0, signs })
    for (const person of [1, 2, 3]) await net.add({ person })
    expect(signing(node)).toMatch(/damaged.*--reset-sign-state/)
    await net.allAt(1, 30_000)
    expect(signs.bytes).toEqual(Uint8Array.of(1, 2, 3))
    await net.remove(node)
    const again = await net.add({ person: 0, signs, reset: 'now' })
    await net.until(() => again.height() > 0 && signing(again) === 'yes', 5_000)
  })

  it('that cannot be written ends the votes of the node, not what it follows', async () => {
    net = await TestNet.four()
    const [first] = net.nodes as [TestNode]
    first.signs.failing = true
    await net.allAt(2, 40_000)
    expect(signing(first)).toMatch(
      /cannot be written \(the disk is full\); .* once that is mended and it is started again/,
    )
    expect(first.test.log.errors.map(({ message }) => message)).toEqual(['this node votes no more'])
  })
})

describe('a peer that says it has more blocks', () => {
  it('delays votes, which are made up for: others may wait for them in that view', async () => {
    net = await TestNet.four()
    net.healing = false
    await net.advance(9_000)
    for (const node of net.nodes.slice(0, 2)) node.voting.setBestPeerHeight(1_000)
    await net.advance(6_000)
    expect(net.nodes.map(({ voting }) => voting.status().view)).toEqual([0, 0, 0, 0])
    expect(net.nodes.map(({ voting }) => voting.status().step)).toEqual(Array(4).fill('prevote'))
    await net.allAt(1, 20_000)
  })

  it('is believed for a while, not for ever', async () => {
    net = new TestNet()
    net.healing = false
    const node = await net.add({ person: 0 })
    await net.add({ person: 1 })
    node.voting.setBestPeerHeight(1_000)
    // The file is begun only where nobody claims that the chain goes on.
    expect(signing(node)).toMatch(/missing/)
    node.voting.setBestPeerHeight(0)
    expect(signing(node)).toBe('yes')
    await net.advance(10_100)
    expect(node.signs.saves).toBeGreaterThan(0)
    node.voting.setBestPeerHeight(1_000)
    expect(signing(node)).toBe('catches up: a peer reports height 1000')
    await net.advance(10_000)
    expect(signing(node)).toBe('yes')
    node.voting.setBestPeerHeight(undefined)
    expect(signing(node)).toBe('yes')
  })
})
