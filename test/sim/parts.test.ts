import { describe, expect, it } from 'vitest'
import { type LinkError, type LinkHandler, type Protocol, type TopicInfo } from '../../src/network/link.js'
import { fromUtf8, mapKey, utf8 } from '../../src/base/primitives/bytes.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import { encodeMessage } from '../../src/voting/tendermint/message.js'
import { fakeHeader, Voters } from '../support/builders/votes.js'
import { Agenda, rest } from './clock.js'
import { Disk, type Fault, type Life } from './disk.js'
import { Oracle } from './oracle.js'
import { Chance } from '../support/builders/chance.js'
import { addressOf, MemoryNetwork, type Weather } from '../support/network/memory-network.js'
import type { MemoryTransport } from '../support/network/memory-transport.js'

describe('the agenda', () => {
  it('lets events happen in the order of their times, and those of one moment in the order of the seed', async () => {
    const order = async (seed: number) => {
      const agenda = new Agenda(0, new Chance(seed))
      const seen: number[] = []
      for (let i = 0; i < 20; i++) agenda.after(i % 4, () => seen.push(i))
      while (await agenda.step(10)) continue
      return seen
    }
    const seen = await order(1)
    expect(seen.map((i) => i % 4)).toEqual([...seen].map((i) => i % 4).sort())
    expect(await order(1)).toEqual(seen)
    expect(await order(2)).not.toEqual(seen)
  })

  it('lets nothing happen that was cancelled, and stops where it is told to', async () => {
    const agenda = new Agenda(5, new Chance(1))
    const seen: string[] = []
    agenda.after(1, () => seen.push('cancelled'))()
    agenda.after(10, () => seen.push('late'))
    expect(await agenda.step(14)).toBe(false)
    expect({ now: agenda.now(), seen }).toEqual({ now: 14, seen: [] })
    expect(await agenda.step(15)).toBe(true)
    expect(seen).toEqual(['late'])
  })

  it('comes to rest after everything that follows from an event', async () => {
    const seen: number[] = []
    const follow = async (depth: number): Promise<void> => {
      await new Promise<void>((resolve) => process.nextTick(resolve))
      await new Promise<void>((resolve) => queueMicrotask(resolve))
      if (depth > 0) return follow(depth - 1)
      seen.push(depth)
    }
    void follow(100)
    await rest()
    expect(seen).toEqual([0])
  })
})

describe('a disk', () => {
  const put = (key: string) => ({ type: 'put' as const, key: Buffer.from(key), value: Buffer.from(key) })

  /** What is left after some writes and a crash at the last. */
  async function survivors(seed: number, writes: readonly { key: string; sync: boolean; fault?: Fault }[]) {
    const disk = new Disk()
    let fault: Fault | undefined
    const life: { -readonly [Member in keyof Life]: Life[Member] } = {
      alive: true,
      fault: () => fault,
      crash: () => {
        life.alive = false
      },
      took: () => Promise.resolve(),
    }
    const level = await disk.open(life)
    for (const { key, sync, ...options } of writes) {
      fault = options.fault
      const written = level.batch([put(key)], { sync } as object)
      await (fault === undefined ? written : Promise.race([written, rest()]))
    }
    disk.losePower(new Chance(seed))
    const again = await disk.open({ ...life, alive: true })
    return (await again.keys().all()).map(String).join('')
  }

  it('loses an end of what was not synced, and nothing else', async () => {
    const writes = [
      { key: 'a', sync: false },
      { key: 'b', sync: true },
      { key: 'c', sync: false },
      { key: 'd', sync: false },
    ]
    const left = await Promise.all(Array.from({ length: 30 }, (_, seed) => survivors(seed, writes)))
    expect([...new Set(left)].sort()).toEqual(['ab', 'abc', 'abcd'])
  })

  it('crashes before or after a write, whose maker never hears of it', async () => {
    const writes = (fault: Fault) => [
      { key: 'a', sync: false },
      { key: 'b', sync: true, fault },
    ]
    expect(await survivors(1, writes('crash-after'))).toBe('ab')
    const left = await Promise.all(Array.from({ length: 20 }, (_, seed) => survivors(seed, writes('crash-before'))))
    expect([...new Set(left)].sort()).toEqual(['', 'a', 'ab'])
  })
})

describe('a sign state on a disk', () => {
  /** What a node finds after a crash at the save of its second state. */
  async function found(seed: number, fault: Fault): Promise<string | undefined> {
    const disk = new Disk()
    const faults: Fault[] = []
    const life = { alive: true, fault: () => faults.pop(), crash: () => {}, took: () => Promise.resolve() }
    await disk.open(life)
    const store = disk.signStore(life)
    await store.save(fromUtf8('old'))
    faults.push(fault)
    void store.save(fromUtf8('new'))
    await rest()
    disk.losePower(new Chance(seed))
    await disk.open(life)
    return utf8((await disk.signStore(life).load()) as Uint8Array)
  }
  const found20 = async (fault: Fault) =>
    new Set(await Promise.all(Array.from({ length: 20 }, (_, seed) => found(seed, fault))))

  it('is the new one after its save, and either before', async () => {
    expect(await found20('crash-after')).toEqual(new Set(['new']))
    expect(await found20('crash-before')).toEqual(new Set(['old', 'new']))
  })
})

describe('wires', () => {
  const topic: TopicInfo = { name: 'talk', version: 1, size: 100 }
  const protocol: Protocol = { name: 'ask', version: 1, ofChain: true, request: 10, answer: 10, timeout: 1_000 }

  async function network(count: number, weather: Partial<Weather> = {}) {
    const agenda = new Agenda(0, new Chance(1))
    const wires = new MemoryNetwork({ time: agenda, chance: new Chance(2), weather })
    const heard: string[][] = []
    const nodes: MemoryTransport[] = []
    for (let node = 0; node < count; node++) {
      heard.push([])
      const owner: LinkHandler = {
        allowsConnection: () => true,
        connected: () => {},
        disconnected: () => heard[node]?.push('disconnected'),
        onAddress: () => {},
        answer: (_link, _protocol, body) => Promise.resolve(body),
        allowsGossip: () => true,
        onFlood: () => {},
        onGossip: (_link, _topic, message) => {
          heard[node]?.push(utf8(message) ?? '')
          return Promise.resolve('accept')
        },
      }
      const transport = wires.plug(node)
      await transport.start(owner)
      nodes.push(transport)
    }
    const settle = async (milliseconds: number) => {
      const limit = agenda.now() + milliseconds
      await rest()
      while (await agenda.step(limit)) continue
    }
    const dial = async (from: number, to: number) => {
      const dialled = (nodes[from] as MemoryTransport).dial(addressOf(to))
      await settle(100)
      return dialled
    }
    return { nodes, heard, settle, dial, wires }
  }

  it('carry a message to everybody once, over others where need be', async () => {
    const { nodes, heard, settle, dial } = await network(4, { duplication: 1 })
    for (const [from, to] of [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 1],
    ] as const) {
      await dial(from, to)
    }
    nodes[0]?.broadcast(topic, fromUtf8('news'))
    await settle(1_000)
    expect(heard).toEqual([[], ['news'], ['news'], ['news']])
  })

  it('bring answers, and failures that say why', async () => {
    const { settle, dial, wires } = await network(2)
    const link = await dial(0, 1)
    const outcome = async (body: string, wait: number) => {
      const answer = link.request(protocol, fromUtf8(body)).then(utf8, (error: LinkError) => error.failure)
      await settle(wait)
      return answer
    }
    expect(await outcome('hello', 100)).toBe('hello')
    expect(await outcome('more than ten bytes', 100)).toBe('too-long')
    wires.weather.passes = () => false
    expect(await outcome('hello', 1_000)).toBe('timeout')
    wires.weather.passes = () => true
    wires.links(1)[0]?.close()
    await settle(100)
    expect(await outcome('hello', 100)).toBe('closed')
  })

  it('lose what the weather names, and nothing else', async () => {
    const { nodes, heard, settle, dial, wires } = await network(2)
    const link = await dial(0, 1)
    wires.weather.loss = (name) => (name === protocol.name ? 1 : 0)
    const failure = link.request(protocol, fromUtf8('hello')).catch((error: LinkError) => error.failure)
    nodes[0]?.broadcast(topic, fromUtf8('news'))
    await settle(1_000)
    expect([await failure, heard]).toEqual(['timeout', [[], ['news']]])
    wires.weather.loss = (name) => (name === topic.name ? 1 : 0)
    const answer = link.request(protocol, fromUtf8('hello'))
    nodes[0]?.broadcast(topic, fromUtf8('more news'))
    await settle(1_000)
    expect([utf8(await answer), heard]).toEqual(['hello', [[], ['news']]])
  })

  it('tell the living that a node died', async () => {
    const { nodes, heard, settle, dial } = await network(2)
    const link = await dial(0, 1)
    nodes[1]?.die()
    await settle(100)
    expect({ closed: link.closed, heard }).toEqual({ closed: true, heard: [['disconnected'], []] })
  })
})

describe('the oracle', () => {
  it('finds a vote for a block whose body a crash could take, as long as the height is open', () => {
    const voters = new Voters(4, 8)
    const { hash } = fakeHeader(8, 'a')
    const told = (...rows: readonly Uint8Array[]) => {
      const disk = { keeps: (key: Uint8Array) => rows.some((row) => mapKey(row) === mapKey(key)) }
      new Oracle().told(0, encodeMessage(voters.prevote(0, 0, hash)), voters.key(0), disk)
    }
    expect(() => told()).toThrow('is not on its disk')
    expect(() => told(tables.candidate.key(hash))).not.toThrow()
    expect(() => told(tables.active.key(8))).not.toThrow()
  })
})
