import { mapKey } from '../../src/primitives/bytes.js'
import { type Confirm, proposalHash } from '../../src/primitives/confirm.js'
import type { Hash } from '../../src/primitives/hash.js'
import type { Header } from '../../src/primitives/header.js'
import { quorum } from '../../src/primitives/spec.js'
import { type Effect, Machine, type MachineEvent, timeoutOf } from '../../src/voting/machine.js'
import {
  blockOf,
  encodeMessage,
  parseMessage,
  type PrevoteMessage,
  type SignedMessage,
  signerOf,
  type UnsignedMessage,
  viewOf,
} from '../../src/voting/message.js'
import {
  encodeSignState,
  freshSignState,
  parseSignState,
  restoredAt,
  signRuling,
  withSigned,
} from '../../src/voting/sign-state.js'
import { encodeSummary, parseSummary } from '../../src/voting/summary.js'
import { Chance } from '../sim/random.js'
import { fakeHeader, fakeSignature, Voters } from './voting.js'

const height = 5
const genesis = fakeHeader(0, 'genesis').hash
const timing = { propose: 1000, delta: 250 }

interface Timer {
  readonly step: 'propose' | 'prevote' | 'precommit'
  readonly view: number
  readonly due: number
}

/** An honest validator: its machine, and what a crash does not take. */
class Node {
  machine: Machine
  disk: Uint8Array
  timers: Timer[] = []
  /** Blocks that the machine asked for and was not told of. */
  wants: Header[] = []
  asked: number | undefined
  confirm: Confirm | undefined

  constructor(
    readonly place: number,
    private readonly voters: Voters,
  ) {
    this.disk = encodeSignState(freshSignState(height), this.owner)
    this.machine = this.restart()
  }

  get owner() {
    return { genesis, publicKey: this.voters.key(this.place) }
  }

  restart(): Machine {
    const restored = restoredAt(parseSignState(this.disk, this.owner), height)
    this.timers = []
    this.wants = []
    this.asked = undefined
    return (this.machine = new Machine({ height, validators: this.voters.keys, own: this.place, restored }))
  }
}

/**
 * The validators of one height in one process: honest machines with their sign state, up to f others that say whatever
 * could be signed with their keys, and a network that the seed owns. Throws when two blocks are confirmed, or an
 * honest validator would sign twice.
 */
export class VotingSimulation {
  /** Within how many views a block is confirmed once all arrives in time. */
  readonly views: number
  private readonly nodes: Node[]
  private readonly dice: Chance
  private readonly voters: Voters
  private readonly liars: number[]
  private readonly needed: number
  private readonly flying: { to: Node; bytes: Uint8Array }[] = []
  /** Everything that was ever signed and sent, by bytes: what a liar can know. */
  private readonly said = new Map<string, SignedMessage>()
  private readonly blocks = new Map<string, { header: Header; valid: boolean; holders: Set<number> }>()
  private now = 0
  private confirmed: Hash | undefined
  /** Who hears anything at the moment. */
  private reachable: readonly Node[]
  /** Whether nodes crash while they sign. */
  private chaos = true

  constructor(seed: number) {
    this.dice = new Chance(seed)
    const count = this.dice.happens(0.5) ? 4 : 1 + this.dice.below(7)
    this.voters = new Voters(count, height)
    this.needed = quorum(count)
    const f = count - this.needed
    this.views = count + f + 2
    const places = [...this.voters.keys.keys()]
    this.liars = Array.from({ length: this.dice.happens(0.7) ? f : 0 }, () => this.draw(places))
    this.nodes = places.map((place) => new Node(place, this.voters))
    this.reachable = this.nodes
    for (const node of this.nodes) this.feed(node, { type: 'start' })
  }

  /** One thing happens, in no order and without any promise that it comes soon or at all. */
  disturb(): void {
    const { dice } = this
    if (dice.happens(0.03)) this.reachable = this.nodes.filter(() => dice.happens(0.7))
    const luck = dice.fraction()
    if (luck < 0.5 && this.flying.length > 0) {
      const { to, bytes } = this.draw(this.flying)
      if (!this.reachable.includes(to)) {
        if (dice.happens(0.5)) this.flying.push({ to, bytes })
        return
      }
      if (dice.happens(0.1)) return
      if (dice.happens(0.1)) this.flying.push({ to, bytes })
      return this.deliver(to, bytes)
    }
    const node = dice.pick(this.nodes)
    if (luck < 0.7) this.answer(node, dice.happens(0.9))
    else if (luck < 0.8) {
      if (node.timers.length > 0) this.feed(node, { type: 'timeout', ...this.draw(node.timers) })
    } else if (luck < 0.96) this.lie()
    else if (luck < 0.98) this.heal(node, dice.pick(this.nodes))
    else this.crash(node)
  }

  /** From now on all arrives in time; whether a block is confirmed before its view is `views` above those of now. */
  settle(views: number): boolean {
    const last = Math.max(...this.nodes.map(({ machine }) => machine.view)) + views
    this.chaos = false
    for (const node of this.nodes) node.timers = node.timers.map((timer) => ({ ...timer, due: this.due(timer.view) }))
    for (;;) {
      this.quieten()
      if (this.confirmed !== undefined) return true
      const timers = this.nodes.flatMap((node) => node.timers.map((timer) => ({ node, timer })))
      const next = timers.sort((a, b) => a.timer.due - b.timer.due)[0]
      if (next === undefined || next.timer.view > last) return false
      this.now = Math.max(this.now, next.timer.due)
      next.node.timers.splice(next.node.timers.indexOf(next.timer), 1)
      this.feed(next.node, { type: 'timeout', ...next.timer })
      if (this.dice.happens(0.3)) this.lie()
    }
  }

  /** Takes one out. */
  private draw<T>(items: T[]): T {
    return items.splice(this.dice.below(items.length), 1)[0] as T
  }

  private quieten(): void {
    for (let moved = true; moved && this.confirmed === undefined;) {
      moved = false
      while (this.flying.length > 0 && this.confirmed === undefined) {
        const { to, bytes } = this.draw(this.flying)
        this.deliver(to, bytes)
        moved = true
      }
      for (const node of this.nodes) moved = this.answer(node, true) || moved
      if (moved) continue
      for (const a of this.nodes) for (const b of this.nodes) moved = this.heal(a, b) || moved
    }
  }

  private due(view: number): number {
    return this.now + timeoutOf(view, timing, 5000)
  }

  /** An own message comes back to its machine as soon as it is signed; others may never come. */
  private feed(node: Node, event: MachineEvent): void {
    const events = [event]
    for (let next = events.shift(); next !== undefined && node.confirm === undefined; next = events.shift()) {
      for (const effect of node.machine.handle(next)) {
        if (effect.type !== 'sign') this.perform(node, effect)
        else {
          const message = this.sign(node, effect)
          if (message === undefined) return this.crash(node)
          events.push({ type: 'message', message })
        }
      }
    }
  }

  private perform(node: Node, effect: Exclude<Effect, { type: 'sign' }>): void {
    switch (effect.type) {
      case 'timer':
        node.timers = node.timers.filter(({ view }) => view >= effect.view)
        node.timers.push({ step: effect.step, view: effect.view, due: this.due(effect.view) })
        return
      case 'want':
        node.wants.push(effect.header)
        return
      case 'need-block':
        node.asked = effect.view
        return
      case 'confirmed':
        this.check(node, effect.confirm)
        return
      case 'evidence':
        if (this.nodes.some(({ place }) => mapKey(this.voters.key(place)) === mapKey(signerOf(effect.first)))) {
          throw new Error('evidence against an honest validator')
        }
        return
      case 'view':
        return
    }
  }

  /** The message signed, written down and sent; undefined where the node crashes before or after it is on disk. */
  private sign(node: Node, { message, state }: Extract<Effect, { type: 'sign' }>): SignedMessage | undefined {
    const held = parseSignState(node.disk, node.owner)
    const ruling = signRuling(held, message)
    if (ruling.ruling !== 'sign') throw new Error(`an honest validator signs twice: ${JSON.stringify(ruling)}`)
    const signed = fakeSigned(message)
    if (this.chaos && this.dice.happens(0.01)) return undefined
    node.disk = encodeSignState(withSigned(held, signed, state), node.owner)
    if (this.chaos && this.dice.happens(0.02)) return undefined
    this.say(
      signed,
      this.nodes.filter((other) => other !== node),
    )
    return signed
  }

  private crash(node: Node): void {
    if (node.confirm !== undefined) return
    node.restart()
    this.feed(node, { type: 'start' })
  }

  private say(message: SignedMessage, to: readonly Node[]): void {
    const bytes = encodeMessage(message)
    this.said.set(mapKey(bytes), message)
    for (const node of to) this.flying.push({ to: node, bytes })
  }

  private deliver(to: Node, bytes: Uint8Array): void {
    this.feed(to, { type: 'message', message: parseMessage(bytes) })
  }

  /** Tells a node of a block it asked for, or gives it one to propose; whether it did. */
  private answer(node: Node, fair: boolean): boolean {
    if (node.asked !== undefined) {
      const view = node.asked
      node.asked = undefined
      const header = this.block(`${node.place} in ${view} at ${this.now} ${this.blocks.size}`, true, node.place)
      this.feed(node, { type: 'template', view, header })
      return true
    }
    const header = node.wants.shift()
    if (header === undefined) return false
    const block = this.blocks.get(mapKey(header.hash))
    if (block === undefined) throw new Error('nobody made that block')
    const { holders, valid } = block
    const handedOut = [...holders].some((place) => this.nodes.some((other) => other.place === place))
    if (!handedOut && this.dice.happens(0.5)) return true
    if (valid) holders.add(node.place)
    const timely = fair && (handedOut || this.dice.happens(0.7))
    this.feed(node, { type: 'block', hash: header.hash, verdict: valid ? 'valid' : 'invalid', timely })
    return true
  }

  /** `b` sends `a` what it lacks; whether that was anything. */
  private heal(a: Node, b: Node): boolean {
    if (a === b || a.confirm !== undefined) return false
    if (b.confirm !== undefined) {
      // Whoever has confirmed could end the doubt of all others, which is not what is looked for.
      if (this.chaos) return false
      this.check(a, b.confirm)
      return true
    }
    const missing = b.machine.missing(parseSummary(encodeSummary(a.machine.summary())))
    for (const message of missing) this.deliver(a, encodeMessage(message))
    return missing.length > 0
  }

  private headerOf(hash: Hash): Header {
    return (this.blocks.get(mapKey(hash)) as { header: Header }).header
  }

  private block(name: string, valid: boolean, holder: number): Header {
    const header = fakeHeader(height, name)
    this.blocks.set(mapKey(header.hash), { header, valid, holders: new Set([holder]) })
    return header
  }

  /** A liar says one thing that could be signed with its key, to some. */
  private lie(): void {
    const { dice, voters } = this
    if (this.liars.length === 0) return
    const liar = dice.pick(this.liars)
    const view = Math.max(0, dice.pick(this.nodes).machine.view + dice.pick([-1, 0, 0, 0, 0, 1]))
    const to = this.nodes.filter(() => dice.happens(0.5))
    const said = [...this.said.values()]
    const proposals = said.filter((message) => message.kind === 'proposal')
    const named = proposals.filter((message) => viewOf(message) === view)
    const luck = dice.fraction()
    if (voters.sponsorOf(view) === liar && luck < 0.6) {
      const proof = this.quorumBelow(view)
      if (proof !== undefined && dice.happens(0.5)) {
        return this.say(voters.proposal(view, this.headerOf(blockOf(proof[0] as PrevoteMessage) as Hash), proof), to)
      }
      const known = proposals.length > 0 && dice.happens(0.5) ? dice.pick(proposals).header : undefined
      const header = known ?? this.block(`lie ${this.blocks.size}`, dice.happens(0.8), liar)
      return this.say(voters.proposal(view, header), to)
    }
    const header = named.length > 0 && dice.happens(0.8) ? dice.pick(named).header : undefined
    if (luck < 0.8) return this.say(voters.prevote(liar, view, header?.hash), to)
    this.say(header === undefined ? voters.nilPrecommit(liar, view) : voters.precommit(liar, view, header), to)
  }

  /** Prevotes of one view below for one block, as many as a quorum takes, if there ever were. */
  private quorumBelow(view: number): PrevoteMessage[] | undefined {
    const groups = new Map<string, Map<string, PrevoteMessage>>()
    for (const message of this.said.values()) {
      if (message.kind !== 'prevote' || message.view >= view || message.blockHash === undefined) continue
      const key = `${message.view} ${mapKey(message.blockHash)}`
      const group = groups.get(key) ?? new Map<string, PrevoteMessage>()
      groups.set(key, group.set(mapKey(message.signer), message))
    }
    const full = [...groups.values()].filter((group) => group.size >= this.needed)
    return full.length === 0 ? undefined : [...this.dice.pick(full).values()]
  }

  /** The invariants of a confirmed block. */
  private check(node: Node, confirm: Confirm): void {
    const { proposal, votes } = confirm
    const hash = mapKey(proposal.blockHash)
    if (new Set(votes.map(({ signer }) => mapKey(signer))).size < this.needed) throw new Error('no quorum')
    if (votes.some((vote) => mapKey(vote.proposalHash) !== mapKey(proposalHash(proposal)))) throw new Error('bad vote')
    if (this.blocks.get(hash)?.valid !== true) throw new Error('an invalid block is confirmed')
    if (this.confirmed !== undefined && mapKey(this.confirmed) !== hash) throw new Error('two blocks are confirmed')
    this.confirmed = proposal.blockHash
    node.confirm = confirm
  }
}

function fakeSigned(message: UnsignedMessage): SignedMessage {
  const signature = fakeSignature(message.kind)
  if (message.kind !== 'proposal') return { ...message, signature }
  return { ...message, signature, proposal: { ...message.proposal, signature } }
}
