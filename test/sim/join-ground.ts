import { publicKeyOf, sign } from '../../src/base/crypto/keys.js'
import type { QuickSigner } from '../../src/base/crypto/quick-signer.js'
import { SignatureCache } from '../../src/base/crypto/signature-cache.js'
import { RuleError } from '../../src/base/errors/rule-error.js'
import { equalBytes, toHex } from '../../src/base/primitives/bytes.js'
import { Reader } from '../../src/base/primitives/codec.js'
import { confirmBytes } from '../../src/base/primitives/confirm.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import type { Hash } from '../../src/base/primitives/hash.js'
import type { Spec } from '../../src/base/primitives/spec.js'
import type { Chain } from '../../src/ledger/chain/chain.js'
import type { KnownHeader } from '../../src/ledger/chain/header-index.js'
import { readBlock, readBlockBytes } from '../../src/ledger/chain/read-body.js'
import type { ListedPart } from '../../src/ledger/state/listed-part.js'
import { hashOf } from '../../src/ledger/state/part-store.js'
import { encodeHead, readHead } from '../../src/ledger/state/state-head.js'
import { latestState, stateParts, type WritingOptions } from '../../src/ledger/state/write-state.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import { craftConfirm } from '../support/builders/blocks.js'
import { memoryStore, type Store, TestChain, withoutValidators } from '../support/builders/chain.js'
import { Chance } from '../support/builders/chance.js'
import { type Holder, holderOf } from '../support/builders/did.js'
import { Crowd } from '../support/builders/random-chain.js'
import { type SpecOverrides, testKey, testPublicKey } from '../support/builders/spec.js'
import { simulatedVerifier } from './verifier.js'

/** The chain of a simulated join, made before its time begins: rows of nodes that have it, blocks that come later, states for peers. */

export interface JoinPlan {
  readonly seed: number
  /** Validators from heights on; none: a chain of work. */
  readonly validators: readonly { readonly height: number; readonly count: number }[]
  /** Blocks from one that commits to coins to the next. */
  readonly interval: number
  /** Height that all have at the beginning. */
  readonly base: number
  /** Blocks that come while a node joins, and after that. */
  readonly growth: number
  readonly further: number
  /** Height above which a branch with more work leaves the chain; absent: none does. */
  readonly branch?: number
  /** Height above which liars have a chain of their own up to a state; absent: they have none. */
  readonly fork?: number
  readonly writing: WritingOptions
}

/** A block as peers get it. */
export interface GivenBlock {
  readonly height: number
  readonly hash: Hash
  readonly bytes: Uint8Array
  readonly confirm: Uint8Array | undefined
}

type SealedRow = readonly [Buffer, Buffer]

export interface JoinGround {
  readonly spec: Spec
  /** Of a node that verified everything up to the base. */
  readonly rows: readonly SealedRow[]
  /** Milliseconds at which its tip is a second old. */
  readonly start: number
  /** Blocks that come while a node joins, those of the branch at the end, and blocks after that. */
  readonly growth: readonly GivenBlock[]
  readonly further: readonly GivenBlock[]
  readonly states: readonly ListedState[]
  /** A state that no honest node has. */
  readonly forked: ListedState | undefined
}

/** The ground that was made last: simulations of one plan often follow each other. */
let made: { readonly id: string; readonly ground: JoinGround } | undefined

/** The chain of a plan. */
export async function joinGroundOf(plan: JoinPlan): Promise<JoinGround> {
  const id = JSON.stringify(plan)
  if (made?.id !== id) made = { id, ground: await new GroundMaker(plan).make() }
  return made.ground
}

class GroundMaker {
  readonly #plan: JoinPlan
  readonly #chance: Chance
  readonly #crowd: Busy
  readonly #states: ListedState[] = []
  /** Rows at the heights where chains part, and at the base. */
  readonly #rows = new Map<number | undefined, readonly SealedRow[]>()

  constructor(plan: JoinPlan) {
    this.#plan = plan
    this.#chance = new Chance(plan.seed).fork('ground')
    this.#crowd = new Busy(this.#chance.fork('crowd'))
  }

  async make(): Promise<JoinGround> {
    const { base, growth, further, branch, fork } = this.#plan
    const store = memoryStore()
    const test = await openChain(this.#plan, store, this.#chance.fork('nonces'))
    await this.#upTo(base, test, store)
    const start = test.clock.time + 1000
    await this.#upTo(base + growth, test, store)
    const coming = await blocksOf(test, base + 1)
    const end = branch === undefined ? test : await this.#branchOf(test)
    if (branch !== undefined) coming.push(...(await blocksOf(end, branch + 1)))
    const tip = end.reader.height
    await this.#crowd.actUntil(end, tip + further)
    const last = await blocksOf(end, tip + 1)
    const forked = fork === undefined ? undefined : await this.#forkOf()
    await test.close()
    if (end !== test) await end.close()
    const rows = this.#rows.get(base) ?? []
    return { spec: test.spec, rows, start, growth: coming, further: last, states: this.#states, forked }
  }

  async #upTo(height: number, test: TestChain, store: Store): Promise<void> {
    const { base, branch, fork, interval, writing } = this.#plan
    for (const stop of stopsOf(this.#plan, test, height)) {
      await this.#crowd.actUntil(test, stop)
      if ([base, branch, fork].includes(stop)) this.#rows.set(stop, await rowsIn(store))
      if (stop % interval === 0) this.#states.push(await ListedState.of(test.chain, writing))
    }
  }

  /** A chain that leaves the other one at the height of its rows, and has one block more. */
  async #branchOf(test: TestChain): Promise<TestChain> {
    const { branch: fork = 0, interval, writing } = this.#plan
    const branch = await this.#openAt(fork, 'branch')
    // Other times make other blocks.
    branch.clock.time = test.clock.time + 1000
    await this.#crowd.actUntil(branch, test.reader.height + 1)
    const { height } = branch.reader
    if (fork < height - (height % interval)) this.#states.push(await ListedState.of(branch.chain, writing))
    return branch
  }

  /** The state of a chain that leaves the other one below the state, whose validators did not confirm it. */
  async #forkOf(): Promise<ListedState> {
    const { fork: at = 0, interval, writing, validators } = this.#plan
    const fork = await this.#openAt(at, 'fork')
    fork.clock.time = fork.chain.tip.header.time * 1000 + 5000
    await fork.mine()
    await fork.mineEmpty(interval - fork.reader.height)
    const state = await ListedState.of(fork.chain, writing)
    const block = await readBlock(fork.database, fork.activeHeader(interval))
    await fork.close()
    if (!fork.spec.hasValidators) return state.claiming(2n)
    // Too few votes, or one of a stranger in the name of a validator.
    const stranger = { publicKey: testPublicKey(0), privateKey: testKey(9) }
    const isAlone = validators.every(({ count }) => count === 1)
    const plan = isAlone || this.#chance.happens(0.5) ? { keys: [stranger] } : { voters: [0] }
    return state.confirmedBy(confirmBytes(craftConfirm(fork.spec, block, plan)))
  }

  async #openAt(height: number, purpose: string): Promise<TestChain> {
    const store = await storeWith(this.#rows.get(height) ?? [])
    return openChain(this.#plan, store, this.#chance.fork(purpose))
  }
}

/** Heights at which something is noted, up to the last one. */
function stopsOf({ interval, base, branch, fork }: JoinPlan, { reader }: TestChain, last: number): number[] {
  const roots = Array.from({ length: Math.floor(last / interval) }, (_, i) => (i + 1) * interval)
  const all = new Set([...roots, base, branch ?? last, fork ?? last, last])
  return [...all].filter((height) => height > reader.height && height <= last).sort((a, b) => a - b)
}

function openChain(plan: JoinPlan, store: Store, random: Chance): Promise<TestChain> {
  const verifier = simulatedVerifier((value) => Promise.resolve(value))
  return TestChain.open(overridesOf(plan), { store, random, verifier, signatures: new SignatureCache() })
}

function overridesOf({ validators, interval }: JoinPlan): SpecOverrides {
  const [first, ...later] = validators
  if (first === undefined) return { ...withoutValidators, coinInterval: interval }
  const keys = (count: number) => Array.from({ length: count }, (_, person) => toHex(testPublicKey(person)))
  const upgrades = later.map(({ height, count }, i) => ({
    name: `others-${i}`,
    height,
    parameters: { validators: keys(count) },
  }))
  return { validators: keys(first.count), producer: 'sponsor', coinInterval: interval, upgrades }
}

async function rowsIn(store: Store): Promise<readonly SealedRow[]> {
  const rows: SealedRow[] = []
  const binary = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  for await (const [key, value] of store.iterator<Buffer, Buffer>(binary)) rows.push([key, value])
  return rows
}

async function storeWith(rows: readonly SealedRow[]): Promise<Store> {
  const store = memoryStore()
  await store.open()
  await store.batch(rows.map(([key, value]) => ({ type: 'put', key, value }) as const))
  return store
}

/** Blocks of a chain from a height on. */
async function blocksOf(test: TestChain, first: number): Promise<GivenBlock[]> {
  const { database, reader } = test
  const blocks: GivenBlock[] = []
  for (let height = first; height <= reader.height; height++) {
    const known = test.activeHeader(height)
    const bytes = await readBlockBytes(database, known)
    blocks.push({
      height,
      hash: known.header.hash,
      bytes,
      confirm: database.get(tables.confirm.key(known.header.hash)),
    })
  }
  return blocks
}

/** A state in parts, as a node has it for its peers; in memory. */
export class ListedState {
  readonly head: Uint8Array
  readonly height: number
  readonly committing: Pick<KnownHeader, 'header' | 'chainWork'>
  readonly #parts: readonly (ListedPart & { readonly bytes: Uint8Array })[]

  private constructor(from: Pick<ListedState, 'head' | 'committing'>, parts: ListedState['parts']) {
    this.head = from.head
    this.height = readHead(new Reader(from.head)).height
    this.committing = from.committing
    this.#parts = parts
  }

  static async of(chain: Chain, writing: WritingOptions): Promise<ListedState> {
    const writable = latestState(chain)
    const parts: (ListedPart & { readonly bytes: Uint8Array })[] = []
    let last = 0
    let number = 0
    for await (const { kind, bytes } of stateParts(chain, writable, writing)) {
      number = kind === last ? number + 1 : 0
      last = kind
      parts.push({ kind, number, length: bytes.length, hash: hashOf(bytes), bytes })
    }
    const [head, ...others] = parts
    return new ListedState({ head: head?.bytes ?? new Uint8Array(0), committing: writable.committing }, others)
  }

  get parts(): readonly (ListedPart & { readonly bytes: Uint8Array })[] {
    return this.#parts
  }

  get total(): number {
    return this.#parts.length
  }

  list(from: number, most: number): readonly ListedPart[] {
    return this.#parts
      .slice(from, from + most)
      .map(({ kind, number, length, hash }) => ({ kind, number, length, hash }))
  }

  read(index: number, from: number, most: number): Promise<Uint8Array> {
    return Promise.resolve(this.#parts[index]?.bytes.subarray(from, from + most) ?? new Uint8Array(0))
  }

  /** Whether a chain has the block that commits to it. */
  isOf({ headers, tip }: Chain): boolean {
    const { header } = this.committing
    return header.height <= tip.header.height && equalBytes(headers.activeAt(header.height).header.hash, header.hash)
  }

  /** The same with another confirm. */
  confirmedBy(confirm: Uint8Array): ListedState {
    return new ListedState({ ...this, head: encodeHead({ ...readHead(new Reader(this.head)), confirm }) }, this.#parts)
  }

  /** The same with so much more work than there is. */
  claiming(times: bigint): ListedState {
    const { header, chainWork } = this.committing
    return new ListedState({ ...this, committing: { header, chainWork: chainWork * times } }, this.#parts)
  }
}

/** Height up to which people act most: what they do there is in the state. */
const busiest = 45

/** People who pay, keep DIDs, and declare and revoke credentials, the same for a seed. */
class Busy {
  readonly #roll: (sides: number) => number
  readonly #crowd: Crowd
  readonly #issuers: readonly Holder[]
  #issued = 0

  constructor(chance: Chance) {
    this.#roll = (sides) => chance.below(sides)
    const one = () => holderOf(signerFrom(chance), signerFrom(chance))
    this.#crowd = new Crowd(this.#roll, Array.from({ length: 6 }, one))
    this.#issuers = [one(), one()]
  }

  /** Has them act in some of the blocks up to a height. */
  async actUntil(test: TestChain, height: number): Promise<void> {
    this.#crowd.look(test)
    while (test.reader.height < height) {
      const left = height - test.reader.height
      const run = test.reader.height < busiest ? 4 : 40
      if (this.#roll(3) === 0) await test.mineEmpty(Math.min(left, 1 + this.#roll(run)))
      else {
        for (let acts = this.#roll(4); acts > 0; acts--) await this.#act(test)
        test.clock.time += 1000
        await test.mine()
      }
    }
  }

  async #act(test: TestChain): Promise<void> {
    if (this.#roll(4) > 0) return this.#crowd.act(test)
    const issuer = this.#issuers[this.#roll(2)] as Holder
    const operation = this.#next(test, issuer)
    try {
      await test.send(await test.carry(operation, issuer.did))
    } catch (error) {
      // A revoked credential is revoked once, and a DID takes one operation a block.
      if (!(error instanceof RuleError) && !String(error).includes('not enough coins')) throw error
    }
  }

  #next({ chain }: TestChain, issuer: Holder): DidOperation {
    if (chain.state.did(issuer.did) === undefined) return issuer.create()
    const id = (number: number) => `${issuer.did}#c${number}`
    if (this.#roll(3) === 0) return issuer.revoke(id(this.#roll(this.#issued + 1)))
    return issuer.declare(issuer.issue(issuer.did, { id: id(this.#issued++) }))
  }
}

/** A signer whose key comes from a seed, and who gives the same signature each time. */
function signerFrom(chance: Chance): QuickSigner {
  const key = chance.bytes(32)
  return { publicKey: publicKeyOf(key), sign: (message) => sign(message, key) }
}
