import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { devnetAccount, devnetValidatorKey } from '../../../src/clients/wallet/devnet-accounts.js'
import { SeededRandom, Payer } from '../builders/test-payer.js'
import { Deadline } from '../process/patience.js'
import { type Directories, NodeProcess, type SpawnOptions } from '../process/spawn.js'
import { chainLikeLocalnet } from './shipped-chain.js'

/** Nodes of a network as processes of their own. */

/** How a member of a network is run. */
export interface MemberOptions extends SpawnOptions {
  /** The number of its validator key; a follower has none. */
  readonly validator?: number
  /** Whether that key has signed nothing before this member's first start. */
  readonly unusedKey?: boolean
  /** The chain spec: a shipped one or a file. */
  readonly genesis: string
  /** Further arguments. */
  readonly args?: readonly string[]
}

/** A node that can be killed and started again on its data. Its P2P address changes with every start. */
export class Member {
  readonly name: string
  readonly directory: string
  readonly #options: MemberOptions
  #node: NodeProcess | undefined
  #started = false

  constructor(name: string, directory: string, options: MemberOptions) {
    this.name = name
    this.directory = directory
    this.#options = options
  }

  get node(): NodeProcess {
    if (this.#node === undefined) throw new Error(`${this.name} is not running`)
    return this.#node
  }

  get running(): boolean {
    return this.#node !== undefined
  }

  /** Address at which others reach it. */
  get address(): string {
    return this.node.line.p2p?.[0] as string
  }

  async start(peers: readonly string[]): Promise<void> {
    const { validator, unusedKey, genesis, args = [], ...spawn } = this.#options
    const key = join(this.directory, '..', `${this.name}.key`)
    // Where the others confirm a block before this one is there, its key would count as one that lost its sign state.
    const unused = unusedKey === true && !this.#started
    this.#started = true
    if (validator !== undefined) {
      mkdirSync(join(this.directory, '..'), { recursive: true })
      writeFileSync(key, toHex(devnetValidatorKey(validator).privateKey), { mode: 0o600 })
    }
    this.#node = await NodeProcess.startWith(
      spawn,
      'start',
      ...['--genesis', genesis, '--data-dir', this.directory],
      ...(args.includes('--p2p-host') ? [] : ['--p2p-host', '127.0.0.1']),
      ...(validator === undefined ? [] : ['--validator-key', key]),
      ...(unused ? ['--reset-sign-state=now'] : []),
      ...peers.flatMap((peer) => ['--peer', peer]),
      ...args,
    )
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.node.stop(signal)
    this.#node = undefined
  }

  signal(signal: NodeJS.Signals): void {
    this.node.process.kill(signal)
  }

  async height(): Promise<number> {
    return (await this.node.get('block/height')).body.Result as number
  }

  /** Hash and transaction ids of the block at a height. */
  async block(height: number): Promise<{ hash: string; tx: string[] }> {
    const hash = await this.node.hashAt(height)
    const { body } = await this.node.get(`block/details/hash/${hash}`)
    return { hash, tx: (body.Result as { tx: string[] }).tx }
  }
}

/** Members that know each other's addresses. */
export class TestNetwork {
  readonly members: Member[] = []
  readonly #directories: Directories
  /** File of its chain spec. */
  readonly genesis: string
  readonly #payer: Payer

  constructor(directories: Directories) {
    this.#directories = directories
    this.genesis = chainLikeLocalnet(directories)
    this.#payer = new Payer(new SeededRandom(7), this.genesis)
  }

  /** A network of so many validators, those of localnet, and followers beside them, all running. */
  static async open(directories: Directories, validators: number, followers = 0): Promise<TestNetwork> {
    const network = new TestNetwork(directories)
    for (let i = 0; i < validators; i++) await network.join(`validator${i}`, { validator: i, unusedKey: true })
    for (let i = 0; i < followers; i++) await network.join(`follower${i}`)
    return network
  }

  /** Starts one more member, on the chain of the others unless told otherwise. */
  async join(name: string, options: Partial<MemberOptions> = {}): Promise<Member> {
    const member = new Member(name, this.#directories.fresh(name), { genesis: this.genesis, ...options })
    await this.start(member)
    this.members.push(member)
    return member
  }

  /** Starts a member again; it is told where the others are. */
  start(member: Member): Promise<void> {
    return member.start(this.live.filter((other) => other !== member).map(({ address }) => address))
  }

  get live(): Member[] {
    return this.members.filter(({ running }) => running)
  }

  at(index: number): Member {
    const member = this.members[index]
    if (member === undefined) throw new Error(`there is no member ${index}`)
    return member
  }

  /** Waits until all the given members, or all that live, have a height. */
  async reach(height: number, members: readonly Member[] = this.live, seconds = 60): Promise<void> {
    await until(`height ${height}`, seconds, async () => {
      const heights = await Promise.all(members.map((member) => member.height()))
      return heights.every((reached) => reached >= height) ? true : `${heights.join(', ')}`
    })
  }

  /** Sends a coin of a shipped account through a member; resolves with the txid once the member has it. */
  async pay(through: Member, account: number): Promise<string> {
    const { client } = through.node
    const transfer = await this.#payer.transfer(client, account, devnetAccount(9).address, 100_000_000n)
    return client.sendRawTransaction(transfer.toHex())
  }

  /** Waits until all the given members, or all that live, have a transaction in a block. */
  async mined(txid: string, members: readonly Member[] = this.live, seconds = 90): Promise<void> {
    await until(`${txid} in a block`, seconds, async () => {
      const found = await Promise.all(members.map(({ node }) => node.client.transaction(txid)))
      const waiting = members.filter((_, i) => (found[i]?.confirmations ?? 0) < 1)
      return waiting.length === 0 ? true : `not at ${waiting.map(({ name }) => name).join(', ')}`
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.live.map((member) => member.stop('SIGKILL')))
  }
}

/** Polls until a condition holds, and fails with what it said last when an idle machine would have had many times the seconds. */
export async function until(what: string, seconds: number, condition: () => Promise<true | string>): Promise<void> {
  const deadline = new Deadline(seconds)
  let last: true | string = 'never looked'
  while (!deadline.over) {
    last = await condition().catch((error: unknown) => String(error))
    if (last === true) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${what} was not reached within ${seconds} s: ${last}`)
}
