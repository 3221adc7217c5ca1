import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { Resolver } from '../../../src/answers/resolver/resolver.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { ProgramHash } from '../../../src/base/primitives/address.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { displayHash, toHex } from '../../../src/base/primitives/bytes.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { zeroHash } from '../../../src/base/primitives/hash.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { didRoot } from '../../../src/identity/proofs/map-tree.js'
import { earliestTime } from '../../../src/ledger/consensus/context.js'
import { didKey } from '../../../src/ledger/storage/rows/did-reader.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { expires as usualExpiry, type Holder, txid } from '../../support/builders/did.js'
import { recentRows, wholeRows } from '../../support/builders/joined-chain.js'
import { naiveRoot } from '../../support/builders/naive-map.js'
import { named } from '../../support/builders/named-did.js'
import {
  modelNames,
  modelPeople,
  type ModelPlan,
  NamedModel,
  operationOfPlan,
  planOfName,
} from '../../support/builders/named-model.js'
import { random } from '../../support/builders/random-chain.js'
import { inStep } from '../../support/fakes/standing.js'
import { rounds } from '../../support/process/thorough.js'

/**
 * DIDs with names in blocks, over branches that replace each other, against a model that is copied where a branch begins. The model also
 * says which rows, root of the map and answers follow, by the definitions of format.md, 9 and 10. At the end a node that saw the last
 * branch alone has to have the same rows and answers.
 */

const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)
const signatures = new SignatureCache()
const coinValue = 100_000_000n
const coinCount = 300
/** Documents that have expired at {@link now}, that expire later, and the usual ones. */
const expiries = ['2024-01-01T00:00:00Z', '2027-01-01T00:00:00Z', usualExpiry]
const now = Date.parse('2026-06-01T00:00:00Z')
const numbers: Readonly<Record<string, number>> = { create: 1, update: 2, deactivate: 3, transfer: 6 }
const dids = [...modelPeople.map(({ did }) => did), ...modelNames.map(named)]

type Roll = (sides: number) => number

/** An operation, paid for by a coin of its own. */
interface Attempt {
  readonly plan: ModelPlan
  readonly operation: DidOperation
  readonly transaction: Transaction
}

/** An operation in a block. */
interface Written extends Attempt {
  readonly height: number
  readonly time: number
}

/** Everything that the model says after a block. */
interface State {
  readonly block: Block
  readonly model: NamedModel
  /** Operations of each DID, oldest first; DIDs in the order of their creates. */
  readonly histories: ReadonlyMap<string, readonly Written[]>
  /** Operations of the block. */
  readonly written: readonly Written[]
}

/** A block, and one with one operation more, which breaks a rule. */
interface Grown {
  readonly state: State
  readonly broken: Block | undefined
}

const txidOf = ({ transaction }: Attempt) => transaction.txid
const didOf = (plan: ModelPlan) => ('who' in plan ? (modelPeople[plan.who] as Holder).did : named(plan.name))
const sha = (...parts: (Uint8Array | string)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()

function littleEndian(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** Digests of a history after each of its entries. */
function digestsOf(history: readonly Written[]): Buffer[] {
  let digest = Buffer.alloc(32)
  return history.map(({ operation, height, time, transaction }) => {
    const entry = [Buffer.of(numbers[operation.operation] as number), littleEndian(height), littleEndian(time)]
    return (digest = sha(digest, ...entry, transaction.hash, sha(operation.payload)))
  })
}

function mapRootOf({ histories }: Pick<State, 'histories'>): Uint8Array {
  const leaves = [...histories].map(([did, history]) => {
    const state = history.at(-1)?.operation.operation === 'deactivate' ? 2 : 1
    const digest = digestsOf(history).at(-1) as Buffer
    return { key: sha('did\0', did), value: sha(Buffer.of(state), littleEndian(history.length), digest) }
  })
  return naiveRoot(leaves)
}

/** The last document of a DID, as its payload says it. */
function documentOf(history: readonly Written[]): { id: string; expires: string; controller?: string | string[] } {
  const last = history.findLast(({ operation }) => operation.operation !== 'deactivate') as Written
  return JSON.parse(Buffer.from(last.operation.payload, 'base64url').toString())
}

/** Answers of the resolver, as the model says them. */
function modelAnswers({ histories }: State): unknown {
  const answers = dids.map((did) => {
    const history = histories.get(did)
    if (history === undefined) return { did, status: 3, all: [], last: [] }
    const hasEnded = history.at(-1)?.operation.operation === 'deactivate'
    const status = hasEnded ? 2 : Date.parse(documentOf(history).expires) <= now ? 1 : 0
    const all = history.toReversed().map(({ transaction: { txid }, time, operation: { payload } }) => {
      return { txid, time: time * 1000, payload }
    })
    return { did, status, all, last: all.slice(0, 1) }
  })
  const alive = [...histories].filter(([, history]) => history.at(-1)?.operation.operation !== 'deactivate')
  const found = modelPeople.map(({ did }) => {
    return alive.filter(([, history]) => [documentOf(history).controller].flat().includes(did)).map(([id]) => id)
  })
  return { answers, found }
}

/** The same of a node. */
async function nodeAnswers(test: TestChain): Promise<unknown> {
  const { database, prover } = test
  const standing = () => inStep(test.reader.height)
  const clock = { now: () => now }
  const resolver = new Resolver({ database, prover, clock, tip: () => test.chain.tip.header, standing })
  const answers = []
  for (const did of dids) {
    const [last, all] = [await resolver.resolve(did), await resolver.resolve(did, { all: true })]
    const shown = ({ transaction = [] }: typeof last) =>
      transaction.map(({ txid, timestamp, operation }) => {
        return { txid, time: Date.parse(timestamp), payload: operation.payload }
      })
    answers.push({ did, status: last.status, all: shown(all), last: shown(last) })
  }
  const found = []
  for (const { did } of modelPeople) {
    const { document } = await resolver.query({ query: { controller: did }, limit: 100 })
    found.push(document.map(({ id }) => id))
  }
  await resolver.close()
  return { answers, found }
}

/** Operation rows and states of DIDs, as the model says them. */
function modelRows({ model, histories }: State): unknown {
  const rows = dids.map((did) => {
    const history = histories.get(did) ?? []
    const digests = digestsOf(history)
    return history.map(({ operation, height, time, transaction }, i) => {
      const number = numbers[operation.operation]
      const payloadHash = toHex(sha(operation.payload))
      return { number, height, time, txid: transaction.txid, payloadHash, digest: toHex(digests[i] as Buffer) }
    })
  })
  const states = modelNames.map((name) => {
    const state = model.names.get(name)
    if (state === undefined) return undefined
    const controllers = state.by.map((one) => (modelPeople[one] as Holder).did).toSorted()
    const control = state.ended ? undefined : { controllers, needed: state.needed }
    return { status: state.ended ? 'deactivated' : 'valid', last: state.last, count: state.count, control }
  })
  const people = modelPeople.map((_, who) => {
    const state = model.people.get(who)
    return state && { status: state.ended ? 'deactivated' : 'valid', last: state.last }
  })
  return { rows, states, people }
}

/** The same of a node. */
async function nodeRows({ chain, database }: TestChain): Promise<unknown> {
  const rows = []
  for (const did of dids) {
    const found = await database.rows(tables.didOperation.range(didKey(did) as ProgramHash))
    rows.push(
      found.map(([, row]) => {
        const { operation: number, height, time, txid, payloadHash, digest } = tables.didOperation.decode(row)
        const hashes = { payloadHash: toHex(payloadHash), digest: toHex(digest) }
        return { number, height, time, txid: displayHash(txid), ...hashes }
      }),
    )
  }
  const states = modelNames.map((name) => {
    const state = chain.state.did(named(name))
    if (state === undefined) return undefined
    const { status, lastTxid: last, operationCount: count } = state
    return { status, last, count, control: status === 'valid' ? state.document.control : undefined }
  })
  const people = modelPeople.map(({ did }) => {
    const state = chain.state.did(did)
    return state && { status: state.status, last: state.lastTxid }
  })
  return { rows, states, people }
}

/** A node, the model after each block of its active branch, and operations that are not in it. */
class World {
  readonly counts = { taken: 0, refused: 0, repeated: 0, branches: 0, falseBranches: 0 }
  /** The model after the block of each height from 1 on. */
  readonly #path: State[] = []
  /** Operations that were refused, or are in a branch that was left. */
  readonly #left = new Set<Attempt>()
  #coins = 0

  private constructor(
    readonly test: TestChain,
    private readonly roll: Roll,
    private readonly coins: Transaction,
  ) {}

  static async open(roll: Roll): Promise<World> {
    const test = await TestChain.open(withoutValidators, { signatures })
    test.clock.time = now
    const outputs = Array.from({ length: coinCount }, () => ({ to: 10, value: coinValue }))
    const coins = craft(test.spec, [genesisCoin(test.chain)], outputs, [10])
    const world = new World(test, roll, coins)
    const block = craftBlock(test.chain, { transactions: [coins] })
    await test.accept(block)
    world.#path.push({ block, model: new NamedModel(), histories: new Map(), written: [] })
    return world
  }

  get height(): number {
    return this.#path.length
  }

  /** One block more, after one in which an operation breaks a rule. */
  async extend(): Promise<void> {
    const { state, broken } = this.#grow(this.#tip)
    if (broken !== undefined) await this.#refuse(broken)
    expect(await this.test.accept(state.block)).toBe('connected')
    this.#path.push(state)
  }

  /** Replaces the last blocks by a branch that has one more, after branches in which an operation breaks a rule. */
  async reorganise(depth: number): Promise<void> {
    const fork = this.height - depth
    const branch = this.#path.slice(0, fork)
    for (let i = 0; i <= depth; i++) {
      const { state, broken } = this.#grow(branch.at(-1) as State)
      if (broken !== undefined && (i === depth || this.roll(3) === 0)) {
        await this.#refuse(broken, depth - i)
        this.counts.falseBranches++
      }
      expect(await this.test.accept(state.block)).toBe(i === depth ? 'connected' : 'side')
      branch.push(state)
    }
    for (const { written } of this.#path.splice(fork)) for (const one of written) this.#left.add(one)
    this.#path.push(...branch.slice(fork))
    this.counts.branches++
  }

  /** Compares the rows and answers of a node with the model. Each block that it connected had the root of the model. */
  async compare(test = this.test): Promise<void> {
    expect(toHex(test.chain.tip.header.hash)).toBe(toHex(this.#tip.block.header.hash))
    expect(await nodeRows(test)).toEqual(modelRows(this.#tip))
    expect(await nodeAnswers(test)).toEqual(modelAnswers(this.#tip))
  }

  /** Compares the node with one that saw the active branch alone. */
  async compareFresh(): Promise<void> {
    const fresh = await TestChain.open(withoutValidators)
    fresh.clock.time = now
    for (const { block } of this.#path) await fresh.accept(block)
    await this.compare(fresh)
    expect(await wholeRows(this.test.database)).toEqual(await wholeRows(fresh.database))
    const [one, other] = await recentRows(this.test.database, fresh.database)
    expect(one).toEqual(other)
    await fresh.close()
  }

  get #tip(): State {
    return this.#path.at(-1) as State
  }

  /** Hands in a block that breaks a rule, and empty ones on top of it, of which the last would be the tip. */
  async #refuse(broken: Block, more = 0): Promise<void> {
    const { tip } = this.test.chain
    let block = broken
    for (let i = 0; i < more; i++) {
      expect(await this.test.accept(block)).toBe('side')
      block = craftBlock(this.test.chain, { parent: this.test.knownHeader(block.header.hash), didRoot: zeroHash })
    }
    const error: unknown = await this.test.accept(block).catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(RuleError)
    expect((error as RuleError).code).toMatch(/^(did|document|ticket)-/)
    expect(this.test.chain.tip).toBe(tip)
    await this.compare()
  }

  /** A block on top of another one, with operations up to the first that breaks a rule. */
  #grow(parent: State): Grown {
    const { chain, roll } = { chain: this.test.chain, roll: this.roll }
    const known = this.test.knownHeader(parent.block.header.hash)
    const [height, time] = [known.header.height + 1, earliestTime(chain.spec, chain.headers.ancestry(known))]
    const model = new NamedModel(parent.model)
    const histories = new Map(parent.histories)
    const written: Written[] = []
    let refused: Attempt | undefined
    for (let left = 1 + roll(5); left > 0 && refused === undefined; left--) {
      const attempt = this.#attempt(model, new Set([...histories.values()].flatMap((all) => all.map(txidOf))))
      const did = didOf(attempt.plan)
      const isTaken = model.take(attempt.plan, txidOf(attempt), known.header.time)
      this.counts[isTaken ? 'taken' : 'refused']++
      if (isTaken) {
        const one = { ...attempt, height, time }
        written.push(one)
        histories.set(did, [...(histories.get(did) ?? []), one])
      } else refused = attempt
    }
    if (refused !== undefined) this.#left.add(refused)
    const transactions = written.map(({ transaction }) => transaction)
    const root = didRoot(chain.genesis.header.hash, mapRootOf({ histories }))
    const plan = { parent: known, header: { time }, didRoot: root }
    const broken = refused && craftBlock(chain, { ...plan, transactions: [...transactions, refused.transaction] })
    return { state: { block: craftBlock(chain, { ...plan, transactions }), model, histories, written }, broken }
  }

  /** An operation that was not in a branch so far: a new one, or now and then one of another branch. */
  #attempt(model: NamedModel, had: ReadonlySet<string>): Attempt {
    const again = this.roll(4) === 0 ? [...this.#left].filter((one) => !had.has(txidOf(one))) : []
    const old = again[this.roll(again.length)]
    if (old !== undefined) {
      this.counts.repeated++
      return old
    }
    const plan = { ...this.#plan(model), expires: expiries[this.roll(expiries.length)] as string }
    const operation = operationOfPlan(plan)
    const coin = outputOf(this.coins, this.#coins++)
    const output = { to: 10, value: coinValue - 100_000n }
    const transaction = craft(this.test.spec, [coin], [output], [10], { payload: { type: 10, operation } })
    return { plan, operation, transaction }
  }

  #plan(model: NamedModel): ModelPlan {
    const { roll } = this
    const who = roll(modelPeople.length)
    const previous = roll(8) === 0 ? txid(999) : (model.people.get(who)?.last ?? txid(7))
    if (model.people.size < 3 || (!model.people.has(who) && roll(2) === 0)) return { kind: 'join', who, previous }
    if (roll(12) === 0) return { kind: roll(3) === 0 ? 'leave' : 'renew', who, previous }
    return planOfName(roll, model)
  }
}

it(
  `a node has the rows, the map and the answers of the model, whatever branches came (DIDLEDGER_SEED=${seed})`,
  { timeout: 3_600_000 },
  async () => {
    const sums = { taken: 0, refused: 0, repeated: 0, branches: 0, falseBranches: 0 }
    for (let history = 0; history < rounds(4, 2000); history++) {
      const roll = random(seed + history)
      const world = await World.open(roll)
      try {
        for (let step = 0; step < 12; step++) {
          if (step < 3 || roll(4) > 0) await world.extend()
          else await world.reorganise(Math.min(world.height - 1, 1 + roll(6)))
          await world.compare()
        }
        await world.reorganise(Math.min(world.height - 1, 1 + roll(12)))
        await world.compareFresh()
      } catch (error) {
        throw new Error(`history ${history} (DIDLEDGER_SEED=${seed + history})`, { cause: error })
      }
      expect(world.test.log.errors).toEqual([])
      await world.test.close()
      for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += world.counts[name]
    }
    // It is a test of all of these.
    for (const count of Object.values(sums)) expect(count).toBeGreaterThan(rounds(4, 2000))
    expect(Math.min(sums.taken, sums.refused) * 6).toBeGreaterThan(sums.taken)
  },
)
