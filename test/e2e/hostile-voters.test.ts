import { createECDH, createPrivateKey, randomBytes, sign } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Link } from '../../src/network/link.js'
import { headersExchange, type HeaderUnit } from '../../src/network/wire/headers-message.js'
import type { Status } from '../../src/network/wire/status-message.js'
import { votesExchange, voteTopic } from '../../src/network/wire/votes-message.js'
import { auxPowBytes } from '../../src/base/primitives/auxpow.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import { confirmBytes, parseConfirm } from '../../src/base/primitives/confirm.js'
import { Header } from '../../src/base/primitives/header.js'
import { encodeMessage, parseMessage, preimage, viewOf } from '../../src/voting/tendermint/message.js'
import { solved } from '../support/builders/blocks.js'
import { TestChain } from '../support/builders/chain.js'
import { HostilePeer } from '../support/fakes/hostile-peer.js'
import { until } from '../support/network/test-network.js'
import { stopwatch } from '../support/process/patience.js'
import { rounds } from '../support/process/thorough.js'
import { Directories } from '../support/process/spawn.js'
import { ended, expectBan, expectBounds, pause, Probe, type Seen, Victim } from '../support/process/attacked-node.js'
import { testKey, testPublicKey, testSpec } from '../support/builders/spec.js'
import { statusOf } from '../support/network/sync.js'

const directories = new Directories()
const timing = { minInterval: 300, emptyInterval: 500, maxDrift: 5_000, propose: 500, delta: 200 }
/** Views that no height gets to in these tests. */
const farView = 1000
/** Three of four validators: the first is attacked, the fourth attacks. */
let nodes: Victim[]
let victim: Victim
let status: Status

beforeAll(async () => {
  const genesis = directories.fresh('genesis.json')
  writeFileSync(genesis, testSpec({ maturity: 2, timing, maxViewTimeout: 2_000 }))
  const chain = await TestChain.open({ timing, maxViewTimeout: 2_000 })
  status = statusOf(chain)
  await chain.close()
  nodes = []
  for (const i of [1, 2, 0]) {
    const directory = directories.fresh(`validator${i}`)
    const key = `${directory}.key`
    mkdirSync(dirname(key), { recursive: true })
    writeFileSync(key, toHex(testKey(i)), { mode: 0o600 })
    const peers = nodes.map(({ address }) => address)
    nodes.push(await Victim.start(directory, genesis, peers, '--validator-key', key))
  }
  victim = nodes[2] as Victim
  await grow(1)
})
afterEach(() => HostilePeer.closeAll())
afterAll(async () => {
  await HostilePeer.closeAll()
  await Promise.all(nodes.map(({ node }) => node.stop('SIGKILL')))
  directories.remove()
})

function heights(): Promise<number[]> {
  return Promise.all(nodes.map(({ node }) => node.client.height()))
}

/** Waits until every node has so many blocks more than the highest has now. */
async function grow(blocks: number, seconds = 15): Promise<void> {
  const goal = Math.max(...(await heights())) + blocks
  await until(`height ${goal}`, seconds, async () => {
    const now = await heights()
    return now.every((height) => height >= goal) ? true : now.join(', ')
  })
}

/** Seconds between two blocks at most: a validator that is told of a higher chain waits so long for it before it votes again. */
const blockTime = 10
/** Blocks that have to be made while an attack lasts, at least. */
const blocksUnderAttack = rounds(2, 3)

/**
 * Watches the victim while it is attacked: meanwhile all get blocks at the usual pace, and two more afterwards. `attack` goes on,
 * with further attackers where one is sent away, until `enough` of them were made.
 */
async function during(attack: (enough: () => Promise<boolean>) => Promise<unknown>): Promise<Seen> {
  const probe = new Probe(victim.node)
  const lowest = async () => Math.min(...(await heights()))
  try {
    const first = Math.max(...(await heights()))
    const elapsed = stopwatch()
    await attack(async () => (await lowest()) >= first + blocksUnderAttack)
    const seconds = elapsed() / 1000
    expect((await lowest()) - first).toBeGreaterThanOrEqual(
      Math.max(blocksUnderAttack, Math.floor(seconds / blockTime)),
    )
    await grow(2)
    return await probe.end()
  } finally {
    probe.stop()
  }
}

/** The last header with its confirm, as the victim hands it out. */
async function tipOf(peer: HostilePeer, link: Link): Promise<HeaderUnit> {
  const units = await peer.ask(link, headersExchange, { locator: [], count: 1000 })
  return units.at(-1) as HeaderUnit
}

function follower(before: Header): Header {
  const { bits, time } = before
  const parts = { merkleRoot: randomBytes(32), bits, nonce: 0, height: before.height + 1 }
  return new Header({ version: 0, previous: before.hash, time: time + 1, ...parts })
}

/** The key of the fourth validator, for signatures in large numbers. */
const key = (() => {
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(testKey(3))
  const point = curve.getPublicKey()
  const [x, y, d] = [point.subarray(1, 33), point.subarray(33), Buffer.from(testKey(3))].map((part) =>
    part.toString('base64url'),
  ) as [string, string, string]
  return createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y, d } })
})()

/** The fourth validator's prevote for no block. */
function prevote(height: number, view: number): Uint8Array {
  const unsigned = { kind: 'prevote', height, view, blockHash: undefined, signer: testPublicKey(3) } as const
  const signature = sign('sha256', preimage(unsigned, status.genesis), { key, dsaEncoding: 'ieee-p1363' })
  return encodeMessage({ ...unsigned, signature })
}

describe('a validator and a peer', () => {
  it('whose headers have forged confirms', async () => {
    const observer = await HostilePeer.open(status)
    const view = await observer.join(victim.address)
    const forge = async () => {
      const peer = await HostilePeer.open({ ...status, tipHeight: 1_000_000, tipHash: randomBytes(32) })
      let asked = 0
      for (let joined = 0; joined < 3; joined++) {
        const tip = await tipOf(observer, view)
        const { proposal, votes } = parseConfirm(tip.confirm)
        peer.answering(headersExchange, ({ count }) => {
          asked++
          const units: HeaderUnit[] = []
          for (let before = tip.header; units.length < count; before = units.at(-1)?.header as Header) {
            const header = follower(before)
            const forged = confirmBytes({ proposal: { ...proposal, blockHash: header.hash }, votes })
            units.push({ header, auxPow: auxPowBytes(solved(header)), confirm: forged, size: 400 })
          }
          return units
        })
        const link = await peer.join(victim.address).catch(() => undefined)
        if (link === undefined) break
        await ended(link)
      }
      expect(asked).toBeGreaterThan(0)
      await expectBan(victim, peer, 'confirm-')
    }
    const seen = await during(async (enough) => {
      do await forge()
      while (!(await enough()))
    })
    expectBounds(seen)
  })

  it('that says it has more blocks than anybody', async () => {
    const peer = await HostilePeer.open({ ...status, tipHeight: 2 ** 32 - 1, tipHash: randomBytes(32) })
    peer.answering(headersExchange, () => new Promise<never>(() => {}))
    const seen = await during(async () => {
      await peer.join(victim.address)
      await grow(3, 18)
    })
    expectBounds(seen)
  })

  it('that forges votes', async () => {
    let told = 0
    const forge = async () => {
      const peer = await HostilePeer.open(status)
      const link = await peer.join(victim.address)
      while (!link.closed) {
        const height = (await victim.node.client.height()) + 1
        for (let i = 0; i < 100; i++) {
          const bytes = prevote(height, told++)
          bytes.set(randomBytes(32), bytes.length - 32)
          peer.tellBytes(voteTopic, bytes)
        }
        await pause(20)
      }
      await expectBan(victim, peer, 'vote-signature')
    }
    const seen = await during(async (enough) => {
      do await forge()
      while (!(await enough()))
    })
    expectBounds(seen)
  })

  it('that tells the votes of a validator in views without end', async () => {
    const observer = await HostilePeer.open(status)
    const peers = await Promise.all(Array.from({ length: 4 }, () => HostilePeer.open(status)))
    const heard = new Set<string>()
    observer.hearing = ({ name }, message) => {
      const vote = name === 'votes' ? parseMessage(message) : undefined
      if (vote !== undefined && viewOf(vote) >= farView) heard.add(toHex(message))
      return 'ignore'
    }
    let view = farView
    const seen = await during(async (enough) => {
      await observer.join((nodes[0] as Victim).address)
      for (const peer of peers) await peer.join(victim.address)
      const first = await victim.node.client.height()
      const began = Date.now()
      // What a validator is granted at a height and in a second is told on, whatever it says.
      let granted = 0
      // For a while, until it is more than that, and until a busy machine has made the blocks.
      while (Date.now() < began + 10_000 || view - farView <= granted || !(await enough())) {
        const height = (await victim.node.client.height()) + 1
        for (let i = 0; i < 60; i++) for (const peer of peers) peer.tellBytes(voteTopic, prevote(height, view++))
        await pause(50)
        const heights = (await victim.node.client.height()) - first + 1
        granted = 64 * heights + (20 * (Date.now() - began)) / 1000
      }
      expect(heard.size).toBeLessThanOrEqual(granted)
    })
    // Each vote is looked at, and few are verified.
    expectBounds(seen, { cpu: 6 })
  })

  it('that hands out the votes of a validator in views without end', async () => {
    const peers = await Promise.all(Array.from({ length: 8 }, () => HostilePeer.open(status)))
    const made = new Map<number, Uint8Array[]>()
    let open = 0
    for (const peer of peers) peer.answering(votesExchange, () => made.get(open) ?? [])
    const seen = await during(async (enough) => {
      for (const peer of peers) await peer.join(victim.address)
      const end = Date.now() + 10_000
      while (Date.now() < end || !(await enough())) {
        const height = (await victim.node.client.height()) + 1
        if (!made.has(height)) {
          const list: Uint8Array[] = []
          for (let i = 0; i < 3000; i++) {
            list.push(prevote(height, 1000 + i))
            if (i % 100 === 99) await pause(0)
          }
          made.set(height, list)
        }
        open = height
        await pause(20)
      }
    })
    // Each vote is looked at, and few are verified.
    expectBounds(seen, { cpu: 6 })
  })

  it('that repeats what everybody knows', async () => {
    const peer = await HostilePeer.open(status)
    const heard: Uint8Array[] = []
    peer.hearing = ({ name }, message) => {
      if (name === 'votes' || name === 'proposals') heard.unshift(message)
      return 'ignore'
    }
    let given = 0
    peer.answering(votesExchange, () => {
      given++
      return Array.from({ length: 2500 }, (_, i) => heard[i % 10] as Uint8Array).filter((bytes) => bytes !== undefined)
    })
    const seen = await during(async () => {
      await peer.join(victim.address)
      await until('votes', 10, () => Promise.resolve(heard.length > 20 ? true : 'none'))
      await grow(6)
      expect(given).toBeGreaterThan(0)
    })
    expectBounds(seen)
  })
})
