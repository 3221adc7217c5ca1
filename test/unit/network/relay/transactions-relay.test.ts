import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { revokeOperation } from '../../../../src/identity/did/build.js'
import { announcedByPeer } from '../../../../src/network/fetch/transaction-fetcher.js'
import { poolExchange } from '../../../../src/network/wire/pool-message.js'
import {
  announcedAtOnce,
  type TransactionName,
  transactionsAtOnce,
  transactionsExchange,
  transactionTopic,
} from '../../../../src/network/wire/transactions-message.js'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import { type Hash, sha256 } from '../../../../src/base/primitives/hash.js'
import type { Transaction } from '../../../../src/base/primitives/transaction.js'
import { craft, craftBlock, fieldsOf, genesisCoin, outputOf, signedBy } from '../../../support/builders/blocks.js'
import { memoryStore, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { authenticationKey, credentialSpecification, holder, signer } from '../../../support/builders/did.js'
import { quickSigner } from '../../../support/builders/signatures.js'
import type { FakePeer } from '../../../support/fakes/fake-peers.js'
import { RelayNode, until } from '../../../support/network/relay-node.js'

const rich = 100_000_000_000n
const nodes: RelayNode[] = []

async function line(count: number): Promise<RelayNode[]> {
  const made = await RelayNode.line(count)
  nodes.push(...made)
  return made
}

async function alone(): Promise<RelayNode> {
  return (await line(1))[0] as RelayNode
}

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

/** Person 10 (output 0) or 11 (output 1) pays all of its coin but a fee to person `to`. */
function pay({ test }: RelayNode, { output = 0, fee = 1000n, to = 30 }: { output?: 0 | 1; fee?: bigint; to?: number }) {
  const value = (output === 0 ? rich : 2n * rich) - fee
  return craft(test.spec, [genesisCoin(test.chain, output)], [{ to, value }], [10 + output])
}

/** Person 10 pays to many, so that there is much to spend. */
function spread({ test }: RelayNode, count: number): Transaction {
  const value = (rich - 100_000_000n) / BigInt(count)
  const outputs = Array.from({ length: count }, () => ({ to: 30, value }))
  return craft(test.spec, [genesisCoin(test.chain)], outputs, [10])
}

function spend({ test }: RelayNode, of: Transaction, index = 0, from = 30, fee = 10_000n): Transaction {
  const value = (of.outputs[index]?.value as bigint) - fee
  return craft(test.spec, [outputOf(of, index)], [{ to: 30, value }], [from])
}

/** The same transaction with other signatures, which do not verify. */
function malleated(transaction: Transaction): Transaction {
  return signedBy(fieldsOf({ ...fieldsOf(transaction), programs: [] }), [12])
}

const nameOf = ({ hash, digest }: Transaction): TransactionName => ({ txid: hash, digest })

/** A peer that hands out these transactions by txid, and notes what it is asked for. */
function holderOf(node: RelayNode, name: string, transactions: readonly Transaction[]) {
  const held = new Map(transactions.map((transaction) => [mapKey(transaction.hash), transaction.bytes]))
  const asked: Hash[] = []
  const peer = node.peers.stranger(name, {
    transactions: (question) => {
      const txids = transactionsExchange.question.decode(question)
      asked.push(...txids)
      return transactionsExchange.answer.encode(txids.map((txid) => held.get(mapKey(txid)) ?? new Uint8Array(0)))
    },
    pool: () => poolExchange.answer.encode([]),
  })
  return { peer, asked, held }
}

let salt = 0
const announce = ({ peers }: RelayNode, peer: FakePeer, names: readonly TransactionName[]) =>
  peers.hear(peer, transactionTopic, { salt: salt++, names })

const looks = ({ questions }: FakePeer) => questions.filter((name) => name === 'pool').length

const allHave = (some: readonly RelayNode[], { txid }: Transaction) =>
  until(() => some.every(({ pool }) => pool.includes(txid)), `${txid} in every pool`)

describe('relay of transactions', () => {
  it.each([0, 1, 3])('brings one that is sent to node %i of a line of four into every pool', async (at) => {
    const made = await line(4)
    const sender = made[at] as RelayNode
    const transaction = await sender.test.send(pay(sender, {}))
    await allHave(made, transaction)
    expect(made.map(({ relay }) => relay.receivedCount)).toEqual([0, 1, 2, 3].map((i) => (i === at ? 0 : 1)))
    expect(made.flatMap(({ peers }) => peers.all().flatMap(({ penalties }) => penalties))).toEqual([])
    // Every node tells each of its neighbours once.
    await until(() => made.every(({ peers }) => peers.told.length === peers.all().length), 'every announcement')
  })

  it('brings a replacement, and to a node that has one no longer what it replaced', async () => {
    const made = await line(3)
    const [first, , last] = made as [RelayNode, RelayNode, RelayNode]
    const before = await first.test.send(pay(first, {}))
    await allHave(made, before)
    const instead = await first.test.send(pay(first, { fee: 9000n, to: 33 }))
    await allHave(made, instead)
    expect(made.map(({ pool }) => pool)).toEqual(made.map(() => [instead.txid]))
    const holder = holderOf(last, 'peer', [before])
    await announce(last, holder.peer, [nameOf(before)])
    await until(() => holder.asked.length === 1, 'the one that was replaced to be asked for')
    await announce(last, holder.peer, [nameOf(before)])
    expect(last.pool).toEqual([instead.txid])
    expect(holder.asked).toHaveLength(1)
    expect(holder.peer.penalties).toEqual([])
  })

  it('brings a transaction of 100 KB, and chains of them in order', async () => {
    const made = await line(3)
    const [first, , last] = made as [RelayNode, RelayNode, RelayNode]
    const many = await first.test.send(spread(first, 1600))
    expect(many.bytes.length).toBeGreaterThan(100_000)
    let parent = many
    for (let i = 0; i < 20; i++) parent = await first.test.send(spend(first, parent))
    await allHave(made, parent)
    expect(last.pool).toHaveLength(21)
  })

  it('brings operations of one DID in their order', async () => {
    const made = await line(3)
    const [first] = made as [RelayNode]
    const { did, create, update, deactivate } = holder()
    const created = await first.test.send(await first.test.carry(create(), did))
    await first.test.send(await first.test.carry(update(created.txid), did, 11))
    await allHave(made, created)
    const gone = await first.test.send(await first.test.carry(deactivate(), did, 11))
    await allHave(made, gone)
    expect(made.every(({ pool }) => pool.join() === first.pool.join())).toBe(true)
  })

  it('is not kept from an honest copy by one with other signatures', async () => {
    const node = await alone()
    const honest = pay(node, {})
    const wrong = malleated(honest)
    expect(wrong.txid).toBe(honest.txid)
    const liar = holderOf(node, 'liar', [wrong])
    const other = holderOf(node, 'other', [honest])
    await announce(node, liar.peer, [nameOf(wrong)])
    await announce(node, other.peer, [nameOf(honest)])
    await allHave([node], honest)
    expect(liar.peer.penalties).toEqual(['tx-program-mismatch'])
    expect(other.peer.penalties).toEqual([])
  })

  it('does not fetch a refused one again, until the tip moves', async () => {
    const node = await alone()
    const wrong = malleated(pay(node, {}))
    const { peer, asked } = holderOf(node, 'liar', [wrong])
    await announce(node, peer, [nameOf(wrong)])
    await until(() => peer.penalties.length === 1)
    for (let i = 0; i < 3; i++) await announce(node, peer, [nameOf(wrong)])
    expect(asked).toHaveLength(1)
    await node.test.mine()
    await announce(node, peer, [nameOf(wrong)])
    await until(() => asked.length === 2)
  })

  it('asks the sender of an orphan for what it builds on', async () => {
    const node = await alone()
    const parent = pay(node, {})
    const child = spend(node, parent)
    const grandchild = spend(node, child)
    const { peer, asked } = holderOf(node, 'peer', [parent, child, grandchild])
    await announce(node, peer, [nameOf(grandchild)])
    await allHave([node], grandchild)
    expect(node.pool).toEqual([parent, child, grandchild].map(({ txid }) => txid))
    expect(asked).toHaveLength(3)
    expect(peer.penalties).toEqual([])
  })

  it('tries an orphan again when another peer, or a user, brings its parent', async () => {
    const node = await alone()
    const parent = pay(node, {})
    const child = spend(node, parent)
    const { peer, asked } = holderOf(node, 'peer', [child])
    await announce(node, peer, [nameOf(child)])
    await until(() => asked.length === 2, 'the parent asked for')
    expect(node.pool).toEqual([])
    await node.test.send(parent)
    await allHave([node], child)
    expect(peer.penalties).toEqual([])
  })

  it('tries an orphan again when a block brings its parent', async () => {
    const node = await alone()
    const elsewhere = await TestChain.open(withoutValidators, { store: memoryStore() })
    const parent = await elsewhere.send(pay(node, {}))
    const child = spend(node, parent)
    const { peer, asked } = holderOf(node, 'peer', [child])
    await announce(node, peer, [nameOf(child)])
    await until(() => asked.length === 2)
    const [block] = await elsewhere.mine()
    await node.test.accept(block as NonNullable<typeof block>)
    await allHave([node], child)
    await elsewhere.close()
  })

  describe('of a credential, signed with a key that an update puts under the same id', () => {
    const ada = holder()
    const fresh = quickSigner()
    const keys = [...ada.plan.keys.slice(0, 1), authenticationKey('recovery', fresh)]
    const plan = { specification: credentialSpecification, verificationMethod: `${ada.did}#recovery` }
    const revoke = revokeOperation(`${ada.did}#x`, plan, signer(fresh))
    const opened = async () => {
      const node = await alone()
      const created = await node.test.publish(ada.create(), ada.did)
      const update = await node.test.carry(ada.update(created, { keys }), ada.did, 10)
      return { node, update, operation: await node.test.carry(revoke, ada.did, 11) }
    }

    it('waits for the block that brings the update', async () => {
      const { node, update, operation } = await opened()
      const { peer, asked } = holderOf(node, 'peer', [operation])
      await announce(node, peer, [nameOf(operation)])
      await until(() => asked.length === 1)
      await announce(node, peer, [nameOf(operation)])
      await node.test.accept(craftBlock(node.test.chain, { transactions: [update] }))
      await allHave([node], operation)
      expect(asked).toHaveLength(1)
      expect(peer.penalties).toEqual([])
    })

    it('comes with the update, in either order', async () => {
      for (const later of [false, true]) {
        const { node, update, operation } = await opened()
        const { peer } = holderOf(node, 'peer', [update, operation])
        const names = [update, operation].map(nameOf)
        await announce(node, peer, later ? names.reverse() : names)
        await allHave([node], operation)
        expect(peer.penalties).toEqual([])
      }
    })

    it('is alone in that: a wrong signature of another operation is refused', async () => {
      const { node } = await opened()
      const wrong = await Promise.all(
        [ada.deactivate(), holder().create()].map(async (operation, i) => {
          const { signature } = ada.update('00'.repeat(32))
          return node.test.carry({ ...operation, signature }, ada.did, 10 + i)
        }),
      )
      const { peer } = holderOf(node, 'peer', wrong)
      await announce(node, peer, wrong.map(nameOf))
      await until(() => peer.penalties.length === 2)
      expect(peer.penalties).toEqual(['did-signature', 'did-signature'])
    })
  })

  it('charges for every wrong transaction of a flood and goes on', async () => {
    const node = await alone()
    const many = await node.test.send(spread(node, 300))
    const wrong = Array.from({ length: 300 }, (_, i) => spend(node, many, i, 31))
    const flood = holderOf(node, 'flood', wrong)
    await announce(node, flood.peer, wrong.map(nameOf))
    const honest = spend(node, many)
    const { peer } = holderOf(node, 'honest', [honest])
    await announce(node, peer, [nameOf(honest)])
    await allHave([node], honest)
    await until(() => flood.peer.penalties.length === 300)
    expect(new Set(flood.peer.penalties)).toEqual(new Set(['tx-program-mismatch']))
    expect(node.pool).toHaveLength(2)
  })

  it('asks others for what a peer announces and withholds, and charges it in the end', async () => {
    const node = await alone()
    const many = await node.test.send(spread(node, 40))
    const announced = Array.from({ length: 40 }, (_, i) => spend(node, many, i))
    const liar = holderOf(node, 'liar', [])
    const other = holderOf(node, 'other', announced)
    await announce(node, liar.peer, announced.slice(0, 1).map(nameOf))
    await until(() => liar.asked.length === 1)
    // One may have left its pool just now.
    expect(liar.peer.penalties).toEqual([])
    await announce(node, liar.peer, announced.map(nameOf))
    await until(() => liar.asked.length >= 40)
    await announce(node, other.peer, announced.map(nameOf))
    await until(() => node.pool.length === 41)
    expect(liar.peer.penalties).toEqual(['peer-slow'])
    expect(other.peer.penalties).toEqual([])
  })

  it('asks another peer for what the first one is slow to hand out', async () => {
    const node = await alone()
    const transaction = pay(node, {})
    const slow = node.peers.stranger('slow')
    slow.other = { answer: () => new Promise(() => {}), hear: () => {} }
    const other = holderOf(node, 'other', [transaction])
    await announce(node, slow, [nameOf(transaction)])
    await announce(node, other.peer, [nameOf(transaction)])
    await allHave([node], transaction)
    expect(slow.questions.filter((name) => name === 'transactions')).toHaveLength(1)
  })

  it('fetches from others while more peers than it asks at a time never answer', async () => {
    const node = await alone()
    for (let i = 0; i < 12; i++) {
      const mute = node.peers.stranger(`mute ${i}`)
      mute.other = { answer: () => new Promise(() => {}), hear: () => {} }
      await announce(node, mute, [{ txid: sha256(`id ${i}`), digest: sha256(`digest ${i}`) }])
    }
    const transaction = pay(node, {})
    const other = holderOf(node, 'other', [transaction])
    await announce(node, other.peer, [nameOf(transaction)])
    await allHave([node], transaction)
  })

  it('notes so much of what one peer announces, and looks into its pool for the rest', async () => {
    const node = await alone()
    const names = Array.from({ length: announcedByPeer + 600 }, (_, i) => {
      return { txid: sha256(`id ${i}`), digest: sha256(`digest ${i}`) }
    })
    const { peer, asked } = holderOf(node, 'peer', [])
    await until(() => peer.questions.length === 1)
    for (let start = 0; start < names.length; start += announcedAtOnce) {
      void announce(node, peer, names.slice(start, start + announcedAtOnce))
    }
    await until(() => asked.length >= announcedByPeer)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(asked).toHaveLength(announcedByPeer)
    expect(new Set(peer.penalties)).toEqual(new Set(['peer-slow']))
  })

  it('takes other bytes than those announced for none', async () => {
    const node = await alone()
    const right = pay(node, {})
    const wrong = malleated(right)
    const liar = holderOf(node, 'liar', [wrong])
    const other = holderOf(node, 'other', [right])
    await announce(node, liar.peer, [nameOf(right)])
    await announce(node, other.peer, [nameOf(right)])
    await allHave([node], right)
    expect(node.relay.receivedCount).toBe(1)
  })

  it('charges for an answer that is longer than the question', async () => {
    const node = await alone()
    const transaction = pay(node, {})
    const peer = node.peers.stranger('long', {
      transactions: () => transactionsExchange.answer.encode([transaction.bytes, transaction.bytes]),
    })
    await announce(node, peer, [nameOf(transaction)])
    await until(() => peer.penalties.length === 1)
    expect(peer.penalties).toEqual(['peer-message'])
    expect(node.pool).toEqual([])
  })

  it('asks on where an answer ends early', async () => {
    const node = await alone()
    const many = await node.test.send(spread(node, 20))
    const announced = Array.from({ length: 20 }, (_, i) => spend(node, many, i))
    const { peer, held, asked } = holderOf(node, 'peer', announced)
    const brief = node.peers.stranger('brief', {
      transactions: (question) => {
        const txids = transactionsExchange.question.decode(question).slice(0, 3)
        return transactionsExchange.answer.encode(txids.map((txid) => held.get(mapKey(txid)) as Uint8Array))
      },
    })
    await announce(node, brief, announced.map(nameOf))
    await until(() => node.pool.length === 21)
    expect(asked).toEqual([])
    expect([...brief.penalties, ...peer.penalties]).toEqual([])
  })

  it('fetches the pool of a peer that joins, in questions of bounded length', async () => {
    const [first] = (await line(1)) as [RelayNode]
    const many = await first.test.send(spread(first, 600))
    for (let i = 0; i < 600; i++) await first.test.send(spend(first, many, i))
    const [second] = (await line(1)) as [RelayNode]
    second.peers.connect(first.peers)
    await until(() => second.pool.length === 601)
    const questions = second.peers.all()[0]?.questions ?? []
    expect(questions.filter((name) => name === 'pool')).toHaveLength(1)
    expect(questions.filter((name) => name === 'transactions').length).toBeGreaterThanOrEqual(601 / transactionsAtOnce)
    expect(second.relay.receivedCount).toBe(601)
    expect(first.relay.receivedCount).toBe(0)
  })

  it('looks into the pool of a peer although others have long lists and hand out nothing, and comes back to those', async () => {
    const node = await RelayNode.open('node', withoutValidators, 100)
    nodes.push(node)
    const names = Array.from({ length: 3000 }, (_, i) => ({ txid: sha256(`id ${i}`), digest: sha256(`digest ${i}`) }))
    const idle = ['one', 'two', 'three'].map((name) =>
      node.peers.stranger(name, {
        transactions: () => new Promise<Uint8Array>(() => {}),
        pool: () => poolExchange.answer.encode(names),
      }),
    )
    await until(() => idle.some(({ questions }) => questions.includes('transactions')))
    const transaction = pay(node, {})
    node.peers.stranger('honest', {
      transactions: () => transactionsExchange.answer.encode([transaction.bytes]),
      pool: () => poolExchange.answer.encode([nameOf(transaction)]),
    })
    await allHave([node], transaction)
    await until(() => idle.every((peer) => looks(peer) > 1))
    await sleep(300)
    // It comes back in turns of a minute, and does not have lists sent again and again.
    expect(Math.max(...idle.map(looks))).toBeLessThan(8)
  })

  it('looks into the pool of a peer at once although others keep theirs back, and comes back to those', async () => {
    const node = await RelayNode.open('node', withoutValidators, 100)
    nodes.push(node)
    const answers: (() => void)[] = []
    const silent = Array.from({ length: 8 }, (_, i) =>
      node.peers.stranger(`silent ${i}`, {
        pool: () => new Promise<Uint8Array>((done) => answers.push(() => done(poolExchange.answer.encode([])))),
      }),
    )
    const transaction = pay(node, {})
    node.peers.stranger('honest', {
      transactions: () => transactionsExchange.answer.encode([transaction.bytes]),
      pool: () => poolExchange.answer.encode([nameOf(transaction)]),
    })
    await allHave([node], transaction)
    expect(answers).toHaveLength(8)
    for (const answer of answers) answer()
    await until(() => silent.every((peer) => looks(peer) > 1))
  })

  it('waits for the lists of ten pools at most', async () => {
    const node = await RelayNode.open('node', withoutValidators, 100)
    nodes.push(node)
    const answers: (() => void)[] = []
    for (let i = 0; i < 12; i++) {
      node.peers.stranger(`silent ${i}`, {
        pool: () => new Promise<Uint8Array>((done) => answers.push(() => done(poolExchange.answer.encode([])))),
      })
    }
    await until(() => answers.length === 10)
    await sleep(200)
    expect(answers).toHaveLength(10)
    answers[0]?.()
    await until(() => answers.length === 11)
  })

  it('fetches nothing while the chain catches up, and the pools of its peers after that', async () => {
    const [first, second] = (await line(2)) as [RelayNode, RelayNode]
    second.sync.set(true)
    const transaction = await first.test.send(pay(first, {}))
    await until(() => first.peers.told.length === 1)
    expect(second.peers.all()[0]?.questions.filter((name) => name === 'transactions')).toEqual([])
    second.sync.set(false)
    await allHave([second], transaction)
  })

  it('fetches nothing that it has, or that was mined', async () => {
    const node = await alone()
    const mined = await node.test.send(pay(node, {}))
    await node.test.mine()
    const pooled = await node.test.send(pay(node, { output: 1 }))
    const fresh = spend(node, pooled)
    const { peer, asked } = holderOf(node, 'peer', [mined, pooled, fresh])
    await announce(node, peer, [mined, pooled, fresh].map(nameOf))
    await allHave([node], fresh)
    expect(asked.map(mapKey)).toEqual([mapKey(fresh.hash)])
  })

  it('forgets what a peer announced when it leaves', async () => {
    const node = await alone()
    const transaction = pay(node, {})
    const { peer, asked } = holderOf(node, 'peer', [transaction])
    node.peers.leave(peer)
    await announce(node, peer, [nameOf(transaction)])
    expect(asked).toEqual([])
  })
})
