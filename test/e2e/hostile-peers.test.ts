import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Link } from '../../src/network/link.js'
import { addressesExchange } from '../../src/network/wire/addresses-message.js'
import { protocols } from '../../src/network/wire/all-messages.js'
import { blocksExchange } from '../../src/network/wire/blocks-message.js'
import { blockTopic, headersExchange, type HeaderUnit } from '../../src/network/wire/headers-message.js'
import { poolExchange } from '../../src/network/wire/pool-message.js'
import { statusExchange } from '../../src/network/wire/status-message.js'
import { transactionsExchange, transactionTopic } from '../../src/network/wire/transactions-message.js'
import { auxPowBytes } from '../../src/base/primitives/auxpow.js'
import { Block } from '../../src/base/primitives/block.js'
import { mapKey } from '../../src/base/primitives/bytes.js'
import type { Hash } from '../../src/base/primitives/hash.js'
import { Header } from '../../src/base/primitives/header.js'
import { Transaction } from '../../src/base/primitives/transaction.js'
import {
  type BlockPlan,
  craft,
  craftBlock,
  fieldsOf,
  genesisCoin,
  outputOf,
  solved,
} from '../support/builders/blocks.js'
import { HostilePeer } from '../support/fakes/hostile-peer.js'
import { until } from '../support/network/test-network.js'
import { Directories } from '../support/process/spawn.js'
import { expectBan, expectBounds, megabyte, pause, Siege } from '../support/process/attacked-node.js'
import { oneIn } from '../support/process/thorough.js'
import { testAddress } from '../support/builders/spec.js'
import { statusOf } from '../support/network/sync.js'

const directories = new Directories()
const nothing = new Uint8Array(0)
let siege: Siege
/** Pays so many outputs to person 12. */
let split: Transaction
const parts = 120

beforeAll(async () => {
  siege = await Siege.open(directories, 60)
  const { source } = siege
  const outputs = Array.from({ length: parts }, () => ({ to: 12, value: 100_000n }))
  const change = { to: 10, value: 100_000_000_000n - 100_000n * BigInt(parts) - 100_000n }
  split = craft(source.spec, [genesisCoin(source.chain)], [...outputs, change], [10])
  await source.send(split)
  await siege.mine()
  await siege.caughtUp()
})
afterEach(() => siege.disperse())
afterAll(async () => {
  await siege.close()
  directories.remove()
})

function unitOf({ header, auxPow, bytes }: Block): HeaderUnit {
  return { header, auxPow: auxPowBytes(auxPow), confirm: nothing, size: bytes.length }
}

/** A header with enough work that follows another. */
function follower(before: Header, fields: Partial<Header> = {}): HeaderUnit {
  const { bits } = before
  const { previous = before.hash, height = before.height + 1 } = fields
  const time = before.time + 1
  const header = new Header({ version: 0, previous, merkleRoot: randomBytes(32), time, bits, nonce: 0, height })
  return { header, auxPow: auxPowBytes(solved(header)), confirm: nothing, size: 400 }
}

/** Of somebody who is not asked for the chain. */
const tellsOnly = { services: 0 }

/** Tells of blocks and hands them out, each with the body that `bodyOf` gives it; until its connection ends. */
async function tellBlocks(
  peer: HostilePeer,
  link: Link,
  make: () => Block,
  bodyOf: (block: Block) => Uint8Array = ({ bytes }) => bytes,
): Promise<void> {
  const told = new Map<string, Block>()
  const give = (block: Block | undefined) => (block === undefined ? nothing : bodyOf(block))
  peer.answering(blocksExchange, (hashes) => hashes.map((hash) => give(told.get(mapKey(hash)))))
  while (told.size < 80) {
    if (link.closed) return
    const block = make()
    told.set(mapKey(block.header.hash), block)
    peer.tell(blockTopic, unitOf(block))
    await pause(100)
  }
  throw new Error('it may tell whatever it likes')
}

/** A transfer of the victim's coins whose signature is like none. */
function unsigned(input: number, nonce: number): Transaction {
  const { spec } = siege.source
  const transaction = craft(spec, [outputOf(split, input)], [{ to: 30, value: 1000n + BigInt(nonce) }], [12])
  return withSignature(transaction, randomBytes(64))
}

function withSignature(transaction: Transaction, signature: Uint8Array): Transaction {
  const [program] = fieldsOf(transaction).programs
  if (program === undefined) throw new Error('no program')
  const parameter = Buffer.concat([Buffer.of(64), signature])
  return new Transaction({ ...fieldsOf(transaction), programs: [{ ...program, parameter }] })
}

type Mutation = (block: Block) => Uint8Array
/** Bodies of a block with the right header. */
const mutations: readonly (readonly [string, Mutation])[] = [
  [
    'wrong in one signature',
    ({ header, auxPow, transactions }) => {
      const last = withSignature(transactions.at(-1) as Transaction, randomBytes(64))
      return new Block(header, auxPow, [...transactions.slice(0, -1), last]).bytes
    },
  ],
  [
    'short of a transaction',
    ({ header, auxPow, transactions }) => new Block(header, auxPow, transactions.slice(0, -1)).bytes,
  ],
  [
    'with the last transaction twice',
    // Three and four that repeat the third have the same merkle root.
    ({ header, auxPow, transactions }) => new Block(header, auxPow, [...transactions, ...transactions.slice(-1)]).bytes,
  ],
  ['cut off', ({ bytes }) => bytes.slice(0, -1)],
  ['too long', ({ bytes }) => Buffer.concat([bytes, Buffer.of(0)])],
  ['those of another', () => siege.source.chain.genesis.bytes],
]

describe('a node and a peer', () => {
  it('whose requests are longer than any', async () => {
    const peer = await HostilePeer.of(siege.source)
    const seen = await siege.during(async () => {
      const link = await peer.join(siege.victim.address)
      for (const protocol of protocols) {
        for (const length of [2 ** 32 - 1, protocol.request + 1]) {
          const stream = await HostilePeer.connection(link).newStream(peer.protocolId(protocol))
          const prefix = Buffer.alloc(4)
          prefix.writeUInt32LE(length)
          stream.send(prefix)
          await until('the end of the stream', 5, async () => (stream.status === 'open' ? 'open' : true))
        }
      }
    })
    expectBounds(seen)
  })

  it('whose answers are longer than any', async () => {
    const peer = await HostilePeer.of(siege.source, { status: { chainWork: 1n << 200n, tipHash: randomBytes(32) } })
    const endless = new Uint8Array(64 * megabyte)
    for (const { protocol } of [headersExchange, poolExchange]) {
      peer.answeringBytes(protocol, () => Promise.resolve(endless))
    }
    const seen = await siege.during(async () => {
      await siege.persist(peer, async (link) => {
        const { asked } = peer
        const before = (asked.get('headers') ?? 0) + (asked.get('pool') ?? 0)
        await until('two questions', 8, async () => {
          const now = (asked.get('headers') ?? 0) + (asked.get('pool') ?? 0)
          return link.closed || now >= before + 2 ? true : `${now}`
        })
        await pause(200)
        link.close()
      })
      await expectBan(siege.victim, peer, 'peer-message')
    })
    expectBounds(seen)
  })

  it('whose headers never end, and whose blocks are not there', async () => {
    const lies = { chainWork: 1n << 200n, tipHash: randomBytes(32), tipHeight: 1_000_000 }
    const peer = await HostilePeer.of(siege.source, { status: lies })
    const told = new Map<string, Header>()
    peer.answering(headersExchange, ({ locator: [newest], count }) => {
      const units: HeaderUnit[] = []
      // The source may be a block ahead of who asks.
      const start = told.get(mapKey(newest as Hash)) ?? siege.source.chain.headers.known(newest as Hash).header
      while (units.length < count) units.push(follower(units.at(-1)?.header ?? start))
      for (const { header } of units) told.set(mapKey(header.hash), header)
      return units
    })
    peer.answering(blocksExchange, (hashes) => hashes.map(() => nothing))
    const seen = await siege.during(async () => {
      const joined = await siege.persist(peer)
      expect(peer.asked.get('headers')).toBeLessThanOrEqual(5 * joined)
      await expectBan(siege.victim, peer, 'peer-withheld')
    })
    expectBounds(seen)
  })

  it('whose headers do not follow each other', async () => {
    const peer = await HostilePeer.of(siege.source, { status: { chainWork: 1n << 200n, tipHash: randomBytes(32) } })
    peer.answering(headersExchange, ({ count }) => {
      const { header } = siege.source.chain.tip
      return Array.from({ length: count }, (_, i) =>
        follower(header, i === 0 ? {} : { previous: randomBytes(32), height: header.height + 1 + i }),
      )
    })
    const seen = await siege.during(async () => {
      expect(await siege.persist(peer)).toBe(2)
      await expectBan(siege.victim, peer, 'peer-headers')
    })
    expectBounds(seen)
  })

  it('that says it has more than it shows', async () => {
    const lies = { chainWork: (1n << 256n) - 1n, tipHash: randomBytes(32), tipHeight: 2 ** 32 - 1 }
    const peer = await HostilePeer.of(siege.source, { status: lies })
    peer.answering(headersExchange, () => [])
    const seen = await siege.during(async () => {
      expect(await siege.persist(peer)).toBe(5)
      await expectBan(siege.victim, peer, 'peer-withheld')
    })
    expectBounds(seen)
  })

  it('whose blocks break a rule', async () => {
    const { source } = siege
    const peer = await HostilePeer.of(source, { status: tellsOnly })
    const seen = await siege.during(async () => {
      const link = await peer.join(siege.victim.address)
      await tellBlocks(peer, link, () => craftBlock(source.chain, { fees: 1n }))
      await expectBan(siege.victim, peer, 'coinbase-value')
    })
    expectBounds(seen)
  })

  it('whose blocks are right but for their last signature', async () => {
    const { source } = siege
    const { spec, chain } = source
    const right = Array.from({ length: parts - 1 }, (_, i) =>
      craft(spec, [outputOf(split, i)], [{ to: 30, value: 90_000n }], [12]),
    )
    const made: Block[] = []
    const plan = (): BlockPlan => ({ transactions: [...right, unsigned(parts - 1, made.length)] })
    const lies = { chainWork: 1n << 200n, tipHash: randomBytes(32) }
    const [first, second] = [
      await HostilePeer.of(source, { status: tellsOnly }),
      await HostilePeer.of(source, { status: lies }),
    ]
    const make = () => {
      made.push(craftBlock(chain, plan()))
      return made.at(-1) as Block
    }
    const tellWrong = async (peer: HostilePeer) => {
      await tellBlocks(peer, await peer.join(siege.victim.address), make)
      return expectBan(siege.victim, peer, 'tx-signature')
    }
    const seenBefore = await siege.duringSync(async () =>
      tellWrong(await HostilePeer.of(source, { status: tellsOnly })),
    )
    expectBounds(seenBefore, { cpu: 8 })
    const seen = await siege.during(
      async () => {
        // The last block that was fetched need not be the one that was refused.
        const reason = await tellWrong(first)
        const wrong = made.find(({ transactions }) =>
          reason.includes((transactions.at(-1) as Transaction).txid),
        ) as Block
        // What is known to be wrong is not looked at again.
        second.answering(headersExchange, () => [unitOf(wrong)])
        expect(await siege.persist(second)).toBe(2)
        await expectBan(siege.victim, second, 'block-invalid')
        await siege.mine()
      },
      // The block that is known to be wrong has to be the next one still.
      { quiet: true },
    )
    expectBounds(seen)
  })

  // Every other one in a usual run.
  it.each(mutations.filter((_, i) => i % oneIn(2) === 0))('whose bodies of blocks are %s', async (_name, mutate) => {
    const { source, victim } = siege
    const rival = () => {
      const spend = (input: number) => craft(source.spec, [outputOf(split, input)], [{ to: 30, value: 90_000n }], [12])
      return craftBlock(source.chain, { transactions: [spend(0), spend(1)] })
    }
    const seenBefore = await siege.duringSync(async () => {
      const attacker = await HostilePeer.of(source)
      await tellBlocks(attacker, await attacker.join(victim.address), rival, mutate)
    })
    expectBounds(seenBefore, { cpu: 8 })

    const peer = await HostilePeer.of(source)
    const seen = await siege.during(
      async () => {
        const link = await peer.join(victim.address)
        await source.send(await source.transfer(testAddress(30), 1000n))
        await source.send(await source.transfer(testAddress(31), 1000n))
        const [block] = (await source.mine()) as [Block]
        const body = mutate(block)
        peer.answering(blocksExchange, (hashes) => hashes.map(() => body))
        peer.status = statusOf(source)
        await until('the end of the connection', 12, async () => {
          if (link.closed) return true
          peer.tell(blockTopic, unitOf(block))
          await peer.ask(link, statusExchange, peer.status).catch(() => {})
          return 'it is open'
        })
        expect(await victim.node.client.height()).toBe(block.header.height - 1)
        await siege.bring()
        await siege.caughtUp()
        expect(await victim.node.hashAt(siege.height)).toBe(block.hash)
      },
      // Nobody but the attacker has the block, so that it is seen that its true body is taken afterwards.
      { quiet: true },
    )
    expectBounds(seen)
  })

  it('whose transactions are signed wrongly', async () => {
    const { source, victim } = siege
    const peer = await HostilePeer.of(source)
    const made = new Map<string, Transaction>()
    peer.answering(transactionsExchange, (txids) => txids.map((txid) => made.get(mapKey(txid))?.bytes ?? nothing))
    const seen = await siege.during(async () => {
      const link = await peer.join(victim.address)
      for (let salt = 0; salt < 200 && !link.closed; salt++) {
        const some = Array.from({ length: 100 }, (_, i) => unsigned(i, salt))
        for (const transaction of some) made.set(mapKey(transaction.hash), transaction)
        peer.tell(transactionTopic, { salt, names: some.map(({ hash: txid, digest }) => ({ txid, digest })) })
        await pause(50)
      }
      await expectBan(siege.victim, peer, 'tx-signature')
    })
    expect(await victim.node.client.pool()).toEqual([])
    expectBounds(seen)
  })

  it('that announces what it does not hand out', async () => {
    const peer = await HostilePeer.of(siege.source)
    peer.answering(transactionsExchange, (txids) => txids.map(() => nothing))
    const seen = await siege.during(async () => {
      const link = await peer.join(siege.victim.address)
      for (let salt = 0; salt < 500 && !link.closed; salt++) {
        const names = Array.from({ length: 512 }, () => ({ txid: randomBytes(32), digest: randomBytes(32) }))
        peer.tell(transactionTopic, { salt, names })
        await pause(10)
      }
      // Third parties can make an honest node drop what it announced, so this ends the connection and is no ban.
      expect(link.closed).toBe(true)
    })
    expectBounds(seen)
  })

  it('that asks without end', async () => {
    const peer = await HostilePeer.of(siege.source)
    let asked = 0
    const seen = await siege.during(async () => {
      const link = await peer.join(siege.victim.address)
      const began = Date.now()
      const isOver = () => link.closed || Date.now() - began > 20_000
      const ask = async (): Promise<void> => {
        for (; !isOver(); asked++) await peer.ask(link, addressesExchange, undefined).catch(() => pause(1))
      }
      const tell = async (): Promise<void> => {
        for (; !isOver(); asked++) {
          const status = { ...peer.status, tipHash: randomBytes(32) }
          await peer.ask(link, statusExchange, status).catch(() => pause(1))
        }
      }
      // Many at a time: on a busy machine one after another would be no flood.
      await Promise.all(Array.from({ length: 8 }, () => Promise.all([ask(), tell()])))
      if (link.closed) return expectBan(siege.victim, peer, 'peer-flood')
      // On so busy a machine it was no flood: a peer may ask 500 questions at once, and 100 a second.
      const taken = 500 + (Date.now() - began) / 10
      return expect(asked).toBeLessThan(1.2 * taken)
    })
    // Five seconds of 100 questions each are answered before it is banned, more where they come more slowly.
    expectBounds(seen, { cpu: Math.max(5, asked / 200) })
  })
})
