import { writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect } from 'vitest'
import { type Link, LinkError } from '../../../src/network/link.js'
import { statusExchange } from '../../../src/network/wire/status-message.js'
import { TestChain, withoutValidators } from '../builders/chain.js'
import { HostilePeer } from '../fakes/hostile-peer.js'
import { until } from '../network/test-network.js'
import { busyness, slowness } from './patience.js'
import { type Directories, NodeProcess } from './spawn.js'
import { type SpecOverrides, testSpec } from '../builders/spec.js'
import { statusOf } from '../network/sync.js'

/** A node that is attacked, an honest one that it follows, and somebody who brings that one new blocks. */

/** Measurements of a node while it was watched. */
export interface Seen {
  /** Milliseconds of the slowest answer of REST, and answers that did not come. */
  readonly slowest: number
  readonly failed: number
  /** Bytes of memory that it took at most, and how many more than in the beginning. */
  readonly peak: number
  readonly grown: number
  /** Seconds of processor time. */
  readonly cpu: number
}

/** Watches a node from a thread of its own. */
export class Probe {
  readonly #worker: Worker

  constructor({ line }: NodeProcess) {
    const file = fileURLToPath(new URL('../tools/probe.mjs', import.meta.url))
    this.#worker = new Worker(file, { workerData: { rest: line.rest } })
  }

  /** Ends it without a word. */
  stop(): void {
    void this.#worker.terminate()
  }

  async end(): Promise<Seen> {
    interface Looks extends Pick<Seen, 'slowest' | 'failed'> {
      readonly memory: readonly number[]
      readonly cpu: readonly number[]
    }
    const looks = await new Promise<Looks>((resolve, reject) => {
      this.#worker.once('message', resolve).once('error', reject)
      this.#worker.postMessage('end')
    })
    const { memory, cpu, slowest, failed } = looks
    const peak = Math.max(...memory)
    return { slowest, failed, peak, grown: peak - (memory[0] ?? peak), cpu: (cpu.at(-1) ?? 0) - (cpu[0] ?? 0) }
  }
}

/** Megabytes of JavaScript heap that a node under attack gets. */
const heap = 192

/** A ban as the node lists it. */
export interface ListedBan {
  /** The name of a node, or a host. */
  readonly peer: string
  readonly reason: string
}

/** A node under attack, with its data directory. */
export class Victim {
  readonly node: NodeProcess

  private constructor(node: NodeProcess) {
    this.node = node
  }

  static async start(directory: string, genesis: string, peers: readonly string[], ...args: string[]): Promise<Victim> {
    const node = await NodeProcess.startWith(
      { env: { NODE_OPTIONS: `--max-old-space-size=${heap}` } },
      ...['start', '--genesis', genesis, '--data-dir', directory, '--p2p-host', '127.0.0.1'],
      ...peers.flatMap((peer) => ['--peer', peer]),
      ...args,
    )
    return new Victim(node)
  }

  /** Address at which peers reach it. */
  get address(): string {
    return this.node.line.p2p[0] as string
  }

  async get<T>(path: string): Promise<T> {
    return (await this.node.get(path)).body.Result as T
  }

  /** A figure of its metrics. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.node.line.rest}/metrics`)).text()
    const line = text.split('\n').find((one) => one.startsWith(`${name} `))
    return Number(line?.slice(name.length))
  }
}

/** Milliseconds from one new block to the next. */
const blockPause = 300
/** Seconds in which the victim has to have the last of them. */
const syncTime = 8
/** Seconds in which an honest node under attack answers one of several questions. */
const bringTime = 30
/** Seconds in which somebody who joins has to have the chain. */
const newcomerTime = 20

/** A chain without validators: blocks are made in this process and brought to an honest node, which the victim follows. */
export class Siege {
  readonly source: TestChain
  readonly genesis: string
  readonly honest: NodeProcess
  readonly victim: Victim
  readonly #directories: Directories
  readonly #courier: HostilePeer
  #link: Link

  private constructor(
    parts: Pick<Siege, 'source' | 'genesis' | 'honest' | 'victim'>,
    directories: Directories,
    courier: HostilePeer,
    link: Link,
  ) {
    this.#directories = directories
    this.source = parts.source
    this.genesis = parts.genesis
    this.honest = parts.honest
    this.victim = parts.victim
    this.#courier = courier
    this.#link = link
  }

  /** `args`: options of the victim. */
  static async open(
    directories: Directories,
    blocks: number,
    overrides: SpecOverrides = {},
    args: readonly string[] = [],
  ): Promise<Siege> {
    const spec = { maturity: 2, ...withoutValidators, ...overrides }
    const source = await TestChain.open(spec)
    await source.mine(blocks)
    const genesis = directories.fresh('genesis.json')
    writeFileSync(genesis, testSpec(spec))
    const honest = await NodeProcess.start(
      ...['start', '--genesis', genesis, '--data-dir', directories.fresh('honest'), '--p2p-host', '127.0.0.1'],
    )
    const address = honest.line.p2p[0] as string
    const [victim, courier] = await Promise.all([
      Victim.start(directories.fresh('victim'), genesis, [address], ...args),
      HostilePeer.of(source),
    ])
    const siege = new Siege({ source, genesis, honest, victim }, directories, courier, await courier.join(address))
    await siege.caughtUp()
    return siege
  }

  get height(): number {
    return this.source.chain.tip.header.height
  }

  /** Makes blocks of what waits in the pool of the source, and brings them to the honest node. */
  async mine(count = 1): Promise<void> {
    await this.source.mine(count)
    await this.bring()
  }

  /** Lets the honest node know of the tip. While large blocks are made here, pings stay without an answer and end the link. */
  async bring(): Promise<void> {
    await until('an answer of the honest node to the status of the source', bringTime, async () => {
      try {
        if (this.#link.closed) this.#link = await this.#courier.join(this.honest.line.p2p[0] as string)
        this.#courier.status = statusOf(this.source)
        await this.#courier.ask(this.#link, statusExchange, this.#courier.status)
        return true
      } catch (error) {
        // Under attack, on a busy machine, an answer may take longer than one question waits.
        if (error instanceof LinkError) return error.message
        throw error
      }
    })
  }

  /** Waits until the victim has the tip of the source. */
  async caughtUp(victim = this.victim, seconds = syncTime): Promise<void> {
    const { header } = this.source.chain.tip
    await until(`block ${header.height} at the victim`, seconds, async () => {
      const height = await victim.node.client.height()
      return (await victim.node.hashAt(header.height)) === header.id ? true : `height ${height}`
    })
  }

  /**
   * Watches the victim while it is attacked and blocks go on, unless `quiet`; what was seen of it until it had the last of
   * them.
   */
  async during(attack: () => Promise<unknown>, options: { readonly quiet?: boolean } = {}): Promise<Seen> {
    const probe = new Probe(this.victim.node)
    let over = false
    const mining = async () => {
      while (!over && options.quiet !== true) {
        await this.mine()
        await pause(blockPause)
      }
    }
    try {
      await Promise.all([mining(), attack().finally(() => (over = true))])
      await this.caughtUp()
      return await probe.end()
    } finally {
      over = true
      probe.stop()
    }
  }

  /**
   * Watches the victim while attackers come one after the other, blocks go on, and a follower without any joins and learns all
   * of them; `attack` is one attacker, and ends when the victim is rid of it.
   */
  async duringSync(attack: () => Promise<unknown>): Promise<Seen> {
    return this.during(async () => {
      const newcomer = await Victim.start(this.#directories.fresh('newcomer'), this.genesis, [
        this.honest.line.p2p[0] as string,
        this.victim.address,
      ])
      try {
        let over = false
        const sync = async () => {
          await this.caughtUp(newcomer, newcomerTime)
          // What it has now was made under attack.
          const { height } = this
          await until('three blocks more', syncTime, async () => (this.height >= height + 3 ? true : `${this.height}`))
          await this.caughtUp(newcomer)
        }
        const attackers = async () => {
          while (!over) await attack()
        }
        await Promise.all([sync().finally(() => (over = true)), attackers()])
      } finally {
        await newcomer.node.stop('SIGKILL')
      }
    })
  }

  /** Has a peer join the victim again and again, as long as it is let in; resolves with how often it was. */
  async persist(peer: HostilePeer, act: (link: Link) => unknown = () => {}): Promise<number> {
    for (let joined = 0; joined < 12; joined++) {
      const link = await peer.join(this.victim.address).catch(() => undefined)
      if (link === undefined) return joined
      await act(link)
      await ended(link)
    }
    throw new Error('it is let in however often it comes back')
  }

  /** Ends all attackers. */
  async disperse(): Promise<void> {
    await HostilePeer.closeAll(this.#courier)
  }

  async close(): Promise<void> {
    await HostilePeer.closeAll()
    await Promise.all([this.honest.stop('SIGKILL'), this.victim.node.stop('SIGKILL'), this.source.close()])
  }
}

/** Waits until a connection is closed by the other side. */
export async function ended(link: Link, seconds = 15): Promise<void> {
  await until('the end of the connection', seconds, () => Promise.resolve(link.closed ? true : 'it is open'))
}

/** The key of a peer is banned, which the owner of the node sees; its host, which is this machine, is not. Resolves with the reason. */
export async function expectBan(victim: Victim, peer: HostilePeer, code: string): Promise<string> {
  const bans = await victim.node.admin<ListedBan[]>('listbans')
  const reason = bans.find((ban) => ban.peer === peer.transport.peer)?.reason ?? ''
  expect(reason).toContain(code)
  expect(bans.filter((ban) => isIP(ban.peer) !== 0)).toEqual([])
  await expect(peer.join(victim.address)).rejects.toThrow()
  return reason
}

/** Bytes. */
export const megabyte = 1024 * 1024
/** Milliseconds in which REST answers, whatever happens, on a machine that does nothing else. */
const patience = 4_000

/**
 * Bounds of an attack: megabytes of memory and seconds of processor time. Most attacks cost hardly more than the watching does, some 10 MB
 * and 0.3 s; the rest of these is room for what the runtime collects later, of which Node 26 leaves more than 20. REST answers in time in any case.
 */
export function expectBounds(seen: Seen, { grown = 75, cpu = 3 } = {}): void {
  expect(seen.failed).toBe(0)
  expect(seen.slowest).toBeLessThan(patience * busyness())
  expect(seen.grown / megabyte).toBeLessThan(grown)
  expect(seen.cpu).toBeLessThan(cpu * slowness())
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
