import { setTimeout } from 'node:timers/promises'
import { buildDeactivate } from '../../../src/identity/did/build.js'
import type { Link } from '../../../src/network/link.js'
import { blocksExchange } from '../../../src/network/wire/blocks-message.js'
import { transactionsExchange, transactionTopic } from '../../../src/network/wire/transactions-message.js'
import { hex, mapKey, reversed } from '../../../src/base/primitives/bytes.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import { sha256d } from '../../../src/base/primitives/hash.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { authenticationKey, holder, signer, specification } from '../../../test/support/builders/did.js'
import { framed } from '../../../test/support/fakes/fake-stream.js'
import { HostilePeer } from '../../../test/support/fakes/hostile-peer.js'
import { quickSigner } from '../../../test/support/builders/signatures.js'
import { lightPeer, lightStatus } from '../../bench/light-peer.js'
import type { Places } from '../../bench/processes.js'
import { type Attack, bigBlock, changeOf, type Coin, doorFrom, purses, type Scene } from './scene.js'
import { paid } from './transactions.js'

/** Malicious peers. They connect from own addresses of this machine, so that honest ones have others. */

/** Peers that do not read, and streams of each. */
const [deafPeers, deafStreams] = [6, 4]
/** Addresses of a flood, and peers from each. */
const [floodHosts, floodPeers] = [5, 12]
/** Milliseconds that connections are held. */
const held = 5000
/** Milliseconds within which a new peer has to be accepted during a flood. */
const welcome = 20_000

export const peerAttacks: Readonly<Record<string, Attack>> = {
  'peers that do not read': async (scene) => {
    const question = framed(blocksExchange.question.encode([reversed(hex(bigBlock(scene).hash))]))
    const attack = async (peer: HostilePeer, link: Link) => {
      const open = () => HostilePeer.connection(link).newStream(peer.protocolId(blocksExchange.protocol))
      const opened = await Promise.all(Array.from({ length: deafStreams }, open))
      const taken = opened.filter(({ status }) => status === 'open')
      if (taken.length === 0) throw new Error('none of its streams is taken')
      for (const stream of taken) {
        stream.pause()
        stream.send(question)
      }
      await setTimeout(held)
    }
    await Promise.all(Array.from({ length: deafPeers }, (_, i) => withPeer(scene, `127.0.0.${21 + i}`, attack)))
  },
  'a flood of places': async (scene) => {
    const guests: HostilePeer[] = []
    const doors = await Promise.all(
      Array.from({ length: floodHosts }, (_, i) => doorFrom(`127.0.0.${41 + i}`, scene.target)),
    )
    try {
      for (const { address } of doors) {
        for (let i = 0; i < floodPeers; i++) {
          const guest = await lightPeer(scene.spec)
          guests.push(guest)
          await guest.join(address).catch(() => {})
        }
      }
      await expectWelcome(scene)
    } finally {
      await Promise.all(guests.map((guest) => guest.close()))
      for (const door of doors) door.close()
    }
  },
  'peers that frame': async (scene) => {
    const [framed, framing] = [purses.framed, purses.framing].map((person) => scene.coins.get(person)) as [Coin, Coin]
    const [known, other] = [holder(), quickSigner()]
    const keys = [...known.plan.keys.slice(0, 1), authenticationKey('recovery', other)]
    const one = paid(scene, purses.framed, known.create())
    const conflicting = paid(scene, purses.framing, known.create({ keys }))
    const by = { specification, verificationMethod: '#recovery' }
    try {
      await offer(scene, 0, '127.0.0.61', [one])
      await offer(scene, 1, '127.0.0.62', [conflicting])
      scene.coins.set(purses.framing, changeOf(conflicting))
      // Valid at one node, invalid at the other, which receives it from the first.
      await offer(scene, 1, '127.0.0.63', [paid(scene, purses.framing, buildDeactivate(known.did, by, signer(other)))])
    } finally {
      // One of the two is never mined: the next round spends the coin of the mined one.
      await setTimeout(held)
      for (const [person, before, made] of [
        [purses.framed, framed, one],
        [purses.framing, framing, conflicting],
      ] as const) {
        const mined = (await scene.minedIn(made.txid)) !== undefined
        scene.coins.set(person, mined ? changeOf(made) : before)
      }
    }
  },
}

/** Announces transactions to one node and serves them there until it has requested all of them. */
async function offer(scene: Scene, node: number, from: string, made: readonly Transaction[]): Promise<void> {
  const wanted = new Map(made.map((transaction) => [mapKey(transaction.hash), transaction]))
  const handedOut = new Set<string>()
  const give = (hash: Hash) => {
    const found = wanted.get(mapKey(hash))
    if (found !== undefined) handedOut.add(found.txid)
    return found?.bytes ?? new Uint8Array(0)
  }
  await withPeer(
    scene,
    from,
    async (peer, link) => {
      peer.answering(transactionsExchange, (hashes) => hashes.map(give))
      const names = made.map(({ hash, bytes }) => ({ txid: hash, digest: sha256d(bytes) }))
      for (let round = 0; round < 100 && handedOut.size < made.length; round++) {
        if (link.closed) throw new Error('it is not listened to')
        peer.tell(transactionTopic, { salt: round, names })
        await setTimeout(100)
      }
      if (handedOut.size < made.length) throw new Error('it is not asked for what it tells of')
    },
    node,
  )
}

/** Expects that a new peer is accepted within the time limit. */
async function expectWelcome(scene: Scene): Promise<void> {
  for (const end = performance.now() + welcome; ; await setTimeout(500)) {
    try {
      return await withPeer(scene, '127.0.0.77', async () => {})
    } catch (error) {
      if (performance.now() > end) throw new Error(`an honest peer is kept out: ${(error as Error).message}`)
    }
  }
}

async function withPeer(
  scene: Scene,
  from: string,
  run: (peer: HostilePeer, link: Link) => Promise<void>,
  node = 0,
): Promise<void> {
  const door = await doorFrom(from, scene.nodes[node] as Places)
  const peer = await HostilePeer.open(lightStatus(scene.spec))
  try {
    await run(peer, await peer.join(door.address))
  } finally {
    await peer.close()
    door.close()
  }
}
