import { mapKey } from '../../../src/base/primitives/bytes.js'
import { type Confirm, proposalHash } from '../../../src/base/primitives/confirm.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import type { Header } from '../../../src/base/primitives/header.js'
import { quorum } from '../../../src/base/primitives/spec.js'
import { TendermintMachine } from '../../../src/voting/tendermint/machine.js'
import { type Effect, type MachineEvent, timeoutOf } from '../../../src/voting/tendermint/machine-events.js'
import {
  blockOf,
  encodeMessage,
  parseMessage,
  type PrevoteMessage,
  type SignedMessage,
  signerOf,
  type UnsignedMessage,
  viewOf,
} from '../../../src/voting/tendermint/message.js'
import {
  encodeSignState,
  freshSignState,
  parseSignState,
  restoredAt,
  signRuling,
  withSigned,
} from '../../../src/voting/tendermint/sign-state.js'
import { encodeSummary, parseSummary } from '../../../src/voting/tendermint/summary.js'
import { Chance } from '../builders/chance.js'
import { fakeHeader, fakeSignature, Voters } from '../builders/votes.js'

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
  machine: TendermintMachine
  disk: Uint8Array
  timers: Timer[] = []
  /** How likely a message of each kind does not reach it at the moment. */
  readonly losses = [0, 0, 0, 0]
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

  restart(): TendermintMachine {
    const restored = restoredAt(parseSignState(this.disk, this.owner), height)
    this.timers = []
    this.wants = []
    this.asked = undefined
    return (this.machine = new TendermintMachine({ height, validators: this.voters.keys, own: this.place, restored }))
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
  private readonly random: Chance
  private readonly voters: Voters
  private readonly liars: number[]
  private readonly needed: number
  private readonly flying: { to: Node; bytes: Uint8Array }[] = []
  /** Everything that was ever signed and sent, by bytes: what a liar can know. */
  private readonly said = new Map<string, SignedMessage>()
  private readonly blocks = new Map<string, { header: Header; valid: boolean; holders: Set<number> }>()
  /** Proposals that all liars voted for. */
  private readonly joined = new Set<SignedMessage>()
  private now = 0
  private confirmed: Hash | undefined
  /** Whether nodes crash while they sign. */
  private chaos = true

  constructor(seed: number) {
    this.random = new Chance(seed)
    const count = this.random.happens(0.6) ? 4 : 1 + this.random.below(7)
    this.voters = new Voters(count, height)
    this.needed = quorum(count)
    const f = count - this.needed
    this.views = count + f + 2
    const places = [...this.voters.keys.keys()]
    this.liars = Array.from({ length: this.random.happens(0.85) ? f : 0 }, () => this.draw(places))
    this.nodes = places.map((place) => new Node(place, this.voters))
    for (const node of this.nodes) this.feed(node, { type: 'start' })
  }

  /** One thing happens, in no order and without any promise that it comes soon or at all. */
  disturb(): void {
    const { random } = this
    const node = random.pick(this.nodes)
    if (random.happens(0.05)) node.losses[random.below(4)] = random.pick([0, 0, 0, 0.3, 0.95])
    const luck = random.fraction()
    if (luck < 0.1) this.lie()
    else if (luck < 0.11) this.crash(node)
    else if (luck < 0.12) this.heal(node, random.pick(this.nodes))
    else if (luck < 0.35) this.answer(node, random.happens(0.95))
    else if (luck < 0.97 && this.flying.length > 0) {
      const { to, bytes } = this.draw(this.flying)
      if (random.happens(to.losses[(bytes[0] as number) - 1] ?? 0)) {
        if (random.happens(0.97)) this.flying.push({ to, bytes })
        return
      }
      if (random.happens(0.05)) this.flying.push({ to, bytes })
      this.deliver(to, bytes)
    } else if (node.timers.length > 0) this.feed(node, { type: 'timeout', ...this.draw(node.timers) })
  }

  /**
   * View 0 ends so that one node has confirmed its block and is silent from then on, as few as possible are locked, and the
   * others know nothing of a quorum: only the lock stands between what comes and a second block.
   */
  ambush(): void {
    const { random, liars, voters, needed, nodes } = this
    if (liars.length === 0 || liars.length < voters.keys.length - needed) return
    this.chaos = false
    const few = nodes.slice(0, needed - liars.length)
    const others = nodes.slice(few.length)
    const sponsor = voters.sponsorOf(0)
    if (liars.includes(sponsor))
      this.say(voters.proposal(0, this.block('ambush', true, (nodes[0] as Node).place)), nodes)
    this.pump((_, message) => message.kind === 'proposal')
    const [proposal] = [...this.said.values()].filter((message) => message.kind === 'proposal')
    if (proposal === undefined) throw new Error('nothing is proposed')
    const { header } = proposal
    const innocent = nodes.map(({ place }) => mapKey(voters.key(place)))
    for (const liar of liars) {
      this.say(voters.prevote(liar, 0, header.hash), few)
      this.say(voters.prevote(liar, 0, undefined), others)
    }
    this.pump((to, message) => {
      const at = innocent.indexOf(mapKey(signerOf(message)))
      return message.kind === 'prevote' && (few.includes(to) || at < needed - 2)
    })
    this.fire(others)
    for (const liar of liars) {
      this.say(voters.precommit(liar, 0, header), nodes.slice(0, 1))
      this.say(voters.nilPrecommit(liar, 0), nodes.slice(1))
    }
    this.pump(
      (to, message) =>
        message.kind.startsWith('precommit') && (to === nodes[0] || mapKey(signerOf(message)) !== innocent[0]),
    )
    this.fire(nodes)
    this.flying.length = 0
    this.chaos = random.happens(0.5)
    if (this.confirmed === undefined) throw new Error('the ambush failed')
  }

  /** Delivers what passes, and what comes of it. */
  private pump(passes: (to: Node, message: SignedMessage) => boolean): void {
    for (let moved = true; moved;) {
      moved = false
      for (const item of this.flying.splice(0)) {
        if (!passes(item.to, parseMessage(item.bytes) as SignedMessage)) this.flying.push(item)
        else {
          this.deliver(item.to, item.bytes)
          moved = true
        }
      }
      for (const node of this.nodes) moved = this.answer(node, true) || moved
    }
  }

  private fire(nodes: readonly Node[]): void {
    for (const node of nodes) for (const timer of node.timers.splice(0)) this.feed(node, { type: 'timeout', ...timer })
  }

  /**
   * Messages arrive, and liars vote for whatever is proposed; but those who have confirmed a block are silent, and nobody
   * is sent what was lost before: what remains must not confirm another block.
   */
  haunt(views: number): void {
    if (this.confirmed === undefined) return
    this.run(views, () => this.join())
  }

  /** From now on all arrives in time; whether a block is confirmed before its view is `views` above those of now. */
  settle(views: number): boolean {
    this.chaos = false
    if (this.confirmed !== undefined) return true
    return this.run(views, () => {
      let moved = false
      for (const a of this.nodes) for (const b of this.nodes) moved = this.heal(a, b) || moved
      return moved
    })
  }

  /** Runs timers in their order, each when nothing else is left to do; whether a block is confirmed then. */
  private run(views: number, more: () => boolean): boolean {
    const before = this.confirmed
    const last = Math.max(...this.nodes.map(({ machine }) => machine.view)) + views
    for (const node of this.nodes) node.timers = node.timers.map((timer) => ({ ...timer, due: this.due(timer.view) }))
    for (;;) {
      for (let moved = true; moved;) {
        moved = this.flying.length > 0
        while (this.flying.length > 0) {
          const { to, bytes } = this.draw(this.flying)
          this.deliver(to, bytes)
        }
        for (const node of this.nodes) moved = this.answer(node, true) || moved
        if (before === undefined && this.confirmed !== undefined) return true
        moved = moved || more()
      }
      const timers = this.nodes.flatMap((node) => node.timers.map((timer) => ({ node, timer })))
      const next = timers.sort((a, b) => a.timer.due - b.timer.due)[0]
      if (next === undefined || next.timer.view > last) return false
      this.now = Math.max(this.now, next.timer.due)
      next.node.timers.splice(next.node.timers.indexOf(next.timer), 1)
      this.feed(next.node, { type: 'timeout', ...next.timer })
      if (this.random.happens(0.3)) this.lie()
    }
  }

  /** Every liar votes for what is proposed in a present view; whether there was anything new. */
  private join(): boolean {
    const views = new Set(this.nodes.map(({ machine }) => machine.view))
    const proposals = [...this.said.values()].filter((message) => message.kind === 'proposal')
    const fresh = proposals.filter((message) => views.has(viewOf(message)) && !this.joined.has(message))
    for (const message of fresh) {
      this.joined.add(message)
      for (const liar of this.liars) {
        this.say(this.voters.prevote(liar, viewOf(message), message.header.hash), this.nodes)
        this.say(this.voters.precommit(liar, viewOf(message), message.header), this.nodes)
      }
    }
    return fresh.length > 0
  }

  /** Takes one out. */
  private draw<T>(items: T[]): T {
    return items.splice(this.random.below(items.length), 1)[0] as T
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
      case 'request-verdict':
        node.wants.push(effect.header)
        return
      case 'request-proposal':
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
    if (this.chaos && this.random.happens(0.003)) return undefined
    node.disk = encodeSignState(withSigned(held, signed, state), node.owner)
    if (this.chaos && this.random.happens(0.006)) return undefined
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
    if (!handedOut && this.random.happens(0.5)) return true
    if (valid) holders.add(node.place)
    const timely = fair && (handedOut || this.random.happens(0.7))
    this.feed(node, { type: 'block', hash: header.hash, verdict: valid ? 'valid' : 'invalid', timely })
    return true
  }

  /** `b` sends `a` what it lacks; whether that was anything. */
  private heal(a: Node, b: Node): boolean {
    if (a === b || a.confirm !== undefined) return false
    if (b.confirm !== undefined) return false
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
    const { random, voters } = this
    if (this.liars.length === 0) return
    const liar = random.pick(this.liars)
    const view = Math.max(0, random.pick(this.nodes).machine.view + random.pick([-1, 0, 0, 0, 0, 1]))
    const to = this.nodes.filter(() => random.happens(0.5))
    const said = [...this.said.values()]
    const proposals = said.filter((message) => message.kind === 'proposal')
    const named = proposals.filter((message) => viewOf(message) === view)
    const luck = random.fraction()
    if (voters.sponsorOf(view) === liar && luck < 0.6) {
      const proof = this.quorumBelow(view)
      if (proof !== undefined && random.happens(0.5)) {
        return this.say(voters.proposal(view, this.headerOf(blockOf(proof[0] as PrevoteMessage) as Hash), proof), to)
      }
      const known = proposals.length > 0 && random.happens(0.5) ? random.pick(proposals).header : undefined
      const header = known ?? this.block(`lie ${this.blocks.size}`, random.happens(0.8), liar)
      return this.say(voters.proposal(view, header), to)
    }
    // The first vote of a liar is the one that counts: mostly it helps a block along, for some to see and others not.
    if (random.happens(0.1))
      return this.say(luck < 0.8 ? voters.prevote(liar, view, undefined) : voters.nilPrecommit(liar, view), to)
    if (named.length === 0) return
    const { header } = random.pick(named)
    if (random.happens(0.6)) this.say(voters.prevote(liar, view, header.hash), to)
    if (random.happens(0.6)) this.say(voters.precommit(liar, view, header), to)
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
    return full.length === 0 ? undefined : [...this.random.pick(full).values()]
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
