import { equalBytes } from '../../src/base/primitives/bytes.js'
import { type Hash, sha256 } from '../../src/base/primitives/hash.js'
import { hashOf } from '../../src/ledger/state/part-store.js'
import { Reader } from '../../src/base/primitives/codec.js'
import { encodeHead, readHead, type StateHead } from '../../src/ledger/state/state-head.js'
import type { Link, LinkHandler, Protocol, TopicInfo, Transport } from '../../src/network/link.js'
import { blocksExchange } from '../../src/network/wire/blocks-message.js'
import { headersExchange, type HeaderUnit } from '../../src/network/wire/headers-message.js'
import {
  partsListed,
  sliceBytes,
  type SliceQuestion,
  type StateList,
  stateListExchange,
  statePartsAtMost,
  stateSliceExchange,
} from '../../src/network/wire/state-message.js'
import type { Chance } from '../support/builders/chance.js'
import type { MemoryLink } from '../support/network/memory-link.js'
import type { MemoryTransport } from '../support/network/memory-transport.js'
import type { Agenda } from './clock.js'
import type { ListedState } from './join-ground.js'

/** Peers of a node that joins, which follow the rules but for some of their answers. */

/** What a liar answers otherwise: about the state that it has, with parts of it, and with headers and blocks. */
export interface Lies {
  readonly list: keyof typeof lists | undefined
  readonly slice: keyof typeof slices | undefined
  readonly history: keyof typeof histories | undefined
  /** Probability that an answer about parts or blocks is one of these. */
  readonly often: number
}

export interface LiarOptions {
  readonly transport: MemoryTransport
  readonly lies: Lies
  readonly agenda: Agenda
  readonly chance: Chance
  /** States of the honest, and the number by which liars choose what they have otherwise. */
  readonly states: readonly ListedState[]
  readonly pick: number
  /** A state of a chain that is not that of the honest. */
  readonly forked: ListedState | undefined
  /** Called for each answer that is a lie. */
  readonly told: (lie: string) => void
}

/** A question, the answer of an honest node, and what lies are made with. */
interface Asked<Q, A> {
  readonly question: Q
  readonly honest: () => Promise<A>
  readonly link: MemoryLink
  readonly liar: Liar
}

const flip = (bytes: Uint8Array, at: number): Uint8Array => {
  const wrong = Uint8Array.from(bytes)
  if (wrong.length > 0) wrong[at % wrong.length]! ^= 1
  return wrong
}

const headed =
  (change: (head: StateHead) => Partial<StateHead>) =>
  (list: StateList): StateList => {
    const head = readHead(new Reader(list.head))
    return { ...list, head: encodeHead({ ...head, ...change(head) }) }
  }

/** A question as it came, and its honest answer. */
interface Raw {
  readonly link: MemoryLink
  readonly body: Uint8Array
  readonly answer: () => Promise<Uint8Array>
}

type ListLie = (list: StateList, asked: Asked<number, StateList>) => StateList

const listOf = (state: ListedState, from: number): StateList => {
  const { header, chainWork } = state.committing
  return { head: state.head, header, chainWork, total: state.total, parts: state.list(from, partsListed) }
}

const lists = {
  none: (list) => ({ ...list, head: new Uint8Array(0), total: 0, parts: [] }),
  coins: headed(({ coins }) => ({ coins: coins + 1 })),
  sum: headed(({ sum }) => ({ sum: sum - 1n })),
  depth: headed(({ depth }) => ({ depth: depth + 1 })),
  height: headed(({ height }) => ({ height: height + 1 })),
  chain: headed(() => ({ genesis: sha256(Uint8Array.of(7)) })),
  confirm: headed(({ confirm }) => ({ confirm: flip(confirm, 40) })),
  // They have the bytes as well: other ones than the blocks commit to.
  part: (list, { liar }) => ({
    ...list,
    parts: list.parts.map((part, i) => {
      const wrong = liar.wrongPart(list.header.hash)
      return i === wrong?.index ? { ...part, hash: hashOf(wrong.bytes) } : part
    }),
  }),
  endless: (list, { question }) => ({
    ...list,
    total: statePartsAtMost,
    parts: Array.from({ length: partsListed }, (_, i) => ({
      ...{ kind: 2, number: question + i, length: 100, hash: sha256(Uint8Array.of(i)) },
    })),
  }),
  cut: (list) => ({ ...list, parts: list.parts.slice(0, -1) }),
  shuffled: (list) => ({ ...list, parts: list.parts.toReversed() }),
  huge: (list) => ({ ...list, parts: list.parts.map((part) => ({ ...part, length: 64 * 1024 * 1024 })) }),
  // Another one each time.
  wavering: (list, { liar }) => ({ ...list, total: list.total + liar.chance.below(3) }),
  forked: (list, { liar, question }) => (liar.forked === undefined ? list : listOf(liar.forked, question)),
} satisfies Record<string, ListLie>

type SliceLie = (asked: Asked<SliceQuestion, Uint8Array>) => Promise<Uint8Array>

const slices = {
  flipped: async ({ honest, liar }) => flip(await honest(), liar.chance.below(1000)),
  cut: async ({ honest }) => {
    const bytes = await honest()
    return bytes.subarray(0, bytes.length >>> 1)
  },
  dropwise: async ({ honest }) => (await honest()).subarray(0, 1),
  withheld: async () => new Uint8Array(0),
  // The part behind it, or that of another height.
  other: async ({ question, liar, honest }) =>
    (await liar.forked?.read(question.index, question.from, 1 << 20)) ?? (await honest()).toReversed(),
  late: async ({ honest, liar }) => {
    // Also when another peer was just asked.
    await liar.wait(liar.chance.pick([5_000, liar.chance.between(20_000, 20_060), 40_000]))
    return honest()
  },
  leaving: async ({ link }) => {
    link.cut()
    return new Uint8Array(0)
  },
} satisfies Record<string, SliceLie>

/** What becomes of blocks and headers that are asked for. */
interface HistoryLie {
  readonly blocks?: (blocks: readonly Uint8Array[], liar: Liar) => readonly Uint8Array[]
  readonly headers?: (units: readonly HeaderUnit[]) => readonly HeaderUnit[]
  /** Milliseconds that an answer takes. */
  readonly waits?: readonly number[]
}

const histories = {
  flipped: { blocks: ([first, ...others], { chance }) => (first ? [flip(first, chance.below(9999)), ...others] : []) },
  swapped: { blocks: (blocks) => blocks.toReversed() },
  withheld: { blocks: (blocks) => blocks.map(() => new Uint8Array(0)) },
  few: { blocks: (blocks) => blocks.slice(0, 1) },
  unconfirmed: {
    headers: (units) => units.map((unit) => ({ ...unit, confirm: flip(unit.confirm, unit.confirm.length - 1) })),
  },
  elsewhere: { headers: (units) => units.slice(1) },
  late: { waits: [5_000, 15_000, 40_000] },
} satisfies Record<string, HistoryLie>

/** Draws what so many liars do. Where they collude all say the same about the state that they have. */
export function liarsOf(chance: Chance, count: number, collude: boolean): readonly Lies[] {
  const list = collude ? chance.pick(['forked', 'part', 'part', 'part', 'coins'] as const) : undefined
  return Array.from({ length: count }, () => ({ ...liesOf(chance), ...(list && { list }) }))
}

/** Draws what a liar does: at least one of the three. */
function liesOf(chance: Chance): Lies {
  const some = <T>(of: readonly T[]) => (chance.happens(0.6) ? chance.pick(of) : undefined)
  const often = chance.pick([1, 0.3])
  const lies = { list: some(names(lists)), slice: some(names(slices)), history: some(names(histories)), often }
  return (lies.list ?? lies.slice ?? lies.history) === undefined ? { ...lies, slice: 'flipped' } : lies
}

function names<T extends object>(of: T): readonly (keyof T)[] {
  return Object.keys(of) as (keyof T)[]
}

/** Between a node that follows the rules and its transport: what it answers is what a liar says. */
export class Liar implements Transport {
  readonly #options: LiarOptions

  constructor(options: LiarOptions) {
    this.#options = options
  }

  get port(): number {
    return this.#options.transport.port
  }

  get chance(): Chance {
    return this.#options.chance
  }

  get forked(): ListedState | undefined {
    return this.#options.forked
  }

  /** The one part of a state that all liars have otherwise: with another bit. */
  wrongPart(committing: Hash): { readonly index: number; readonly bytes: Uint8Array } | undefined {
    const { states, pick } = this.#options
    const state = states.find((one) => equalBytes(one.committing.header.hash, committing))
    if (state === undefined) return undefined
    // Of each kind as often as of another, however many there are.
    const kinds = [...new Set(state.parts.map(({ kind }) => kind))]
    const some = state.parts.flatMap(({ kind }, index) => (kind === kinds[pick % kinds.length] ? [index] : []))
    const index = some[pick % some.length] as number
    return { index, bytes: flip(state.parts[index]?.bytes ?? new Uint8Array(0), pick >>> 8) }
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => void this.#options.agenda.after(milliseconds, resolve))
  }

  start(owner: LinkHandler): Promise<void> {
    return this.#options.transport.start({
      allowsConnection: (side) => owner.allowsConnection(side),
      connected: (link) => owner.connected(link),
      disconnected: (link, reason) => owner.disconnected(link, reason),
      onAddress: (address) => owner.onAddress(address),
      answer: (link, protocol, body) =>
        this.#answer(link as MemoryLink, protocol, body, () => owner.answer(link, protocol, body)),
      allowsGossip: (link, bytes) => owner.allowsGossip(link, bytes),
      onFlood: (link) => owner.onFlood(link),
      onGossip: (link, topic, message) => owner.onGossip(link, topic, message),
    })
  }

  dial(address: string): Promise<Link> {
    return this.#options.transport.dial(address)
  }

  close(): Promise<void> {
    return this.#options.transport.close()
  }

  broadcast(topic: TopicInfo, message: Uint8Array): void {
    this.#options.transport.broadcast(topic, message)
  }

  async #answer(
    link: MemoryLink,
    protocol: Protocol,
    body: Uint8Array,
    answer: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const { list, slice, history, often } = this.#options.lies
    const asked = { link, body, answer }
    const isOf = ({ protocol: { name } }: { readonly protocol: Protocol }) => name === protocol.name
    if (isOf(stateListExchange)) return list === undefined ? answer() : this.#list(list, asked)
    if (isOf(stateSliceExchange)) return this.#slice(slice, asked)
    if (history === undefined || !this.chance.happens(often)) return answer()
    const lie: HistoryLie = histories[history]
    if (isOf(blocksExchange)) return this.#blocks(lie, answer)
    return isOf(headersExchange) ? this.#headers(lie, answer) : answer()
  }

  async #list(name: keyof typeof lists, { link, body, answer }: Raw): Promise<Uint8Array> {
    const question = stateListExchange.question.decode(body)
    const honest = async () => stateListExchange.answer.decode(await answer())
    const list = await honest()
    if (list.head.length === 0) return stateListExchange.answer.encode(list)
    this.#options.told(`list ${name}`)
    const lie: ListLie = lists[name]
    return stateListExchange.answer.encode(lie(list, { question, honest, link, liar: this }))
  }

  async #slice(name: keyof typeof slices | undefined, { link, body, answer }: Raw): Promise<Uint8Array> {
    const { lies, forked, told } = this.#options
    const question = stateSliceExchange.question.decode(body)
    const { block, index, from } = question
    const wrong = lies.list === 'part' ? this.wrongPart(block) : undefined
    if (wrong?.index === index) return wrong.bytes.subarray(from)
    if (forked !== undefined && equalBytes(block, forked.committing.header.hash)) {
      return forked.read(index, from, sliceBytes)
    }
    if (name === undefined || !this.chance.happens(lies.often)) return answer()
    told(`slice ${name}`)
    const lie: SliceLie = slices[name]
    return lie({ question, honest: answer, link, liar: this })
  }

  async #blocks({ blocks, waits }: HistoryLie, answer: () => Promise<Uint8Array>): Promise<Uint8Array> {
    if (waits !== undefined) await this.#late(waits)
    const honest = await answer()
    if (blocks === undefined) return honest
    this.#options.told('history wrong')
    return blocksExchange.answer.encode(blocks(blocksExchange.answer.decode(honest), this))
  }

  async #headers({ headers, waits }: HistoryLie, answer: () => Promise<Uint8Array>): Promise<Uint8Array> {
    if (waits !== undefined) await this.#late(waits)
    const honest = await answer()
    if (headers === undefined) return honest
    this.#options.told('history wrong')
    return headersExchange.answer.encode(headers(headersExchange.answer.decode(honest)))
  }

  #late(waits: readonly number[]): Promise<void> {
    this.#options.told('history late')
    return this.wait(this.chance.pick(waits))
  }
}
