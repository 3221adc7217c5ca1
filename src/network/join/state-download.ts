/**
 * Takes the latest state that peers have, part by part, before a node has a chain.
 *
 *   peers -> askForState (state-offers.ts)   head, list of parts; a confirm behind the block that commits to the coins
 *     offers with the same head and list are one, of all peers that make it
 *   StateDownload.run -> PartFetch (part-fetch.ts): each part from one peer of the offer, by its hash in the list -> PartStore
 *     -> check, part by part -> the state; StateError -> all who made the offer listed what the blocks do not commit to
 *
 * - A part with another hash costs its sender alone; a list of wrong parts costs all that made it.
 * - Of several offers the later state comes first, on a chain of work the one with more work, then that of more peers.
 */
import { workOf } from '../../base/primitives/compact.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Code } from '../../base/errors/error-codes.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Env } from '../../base/runtime/env.js'
import type { CheckedState } from '../../ledger/state/check-state.js'
import { StateError } from '../../ledger/state/check-state.js'
import type { Part } from '../../ledger/state/parts.js'
import type { PartStore } from '../../ledger/state/part-store.js'
import { LinkError, type LinkFailure } from '../link.js'
import { isUnanswered, penaliseAndDrop, type SyncPeer, type SyncPeers } from '../fetch/sync-peer.js'
import { Timeouts } from '../fetch/timeouts.js'
import { penaltyOf } from '../penalties.js'
import { PartFetch, SourcesGone } from './part-fetch.js'
import { askForState, type OfferChecking, type StateOffer } from './state-offers.js'

/** Peers that are waited for before the best offer is chosen. */
const peersWanted = 3
/** @tuning ms: wait for more peers once one has answered, where there may be more */
const morePeers = 2_000
/** @tuning ms: wait for an offer once a peer has answered that it has none */
const noOffer = 10_000
/** @tuning ms: wait for those who had the state that was being taken, and have left or hand out nothing more; a restart is shorter */
const comeBack = 300_000
/** Questions to a peer without any answer after which it counts as one that has none. */
const unansweredAtMost = 2
/** Milliseconds without an answer of any peer after which that is said, and between two times. */
const saidAfter = 5_000
const saidAgain = 60_000
/** Milliseconds between two looks at what peers offer. */
const lookInterval = 200
/** Milliseconds after which a peer without an offer is asked again. */
const askAgain = 30_000

/** Failures of a question after which the peer may still have a state. */
const silences: readonly LinkFailure[] = ['closed', 'timeout', 'busy']

export interface StateDownloadOptions extends OfferChecking, Pick<Env, 'timers'> {
  /** Without `seeksMore` another peer may come at any time. */
  readonly peers: SyncPeers & { readonly seeksMore?: boolean }
  readonly parts: PartStore
  /** Takes the bytes that are there, and how many the state has. */
  readonly progress?: (done: number, total: number) => void
}

/** Checks the parts of a state from the first one on, and makes what follows from them. */
export type CheckParts = (parts: AsyncIterable<Part>) => Promise<CheckedState>

/** The answer of a peer about the state that it has. */
interface Said {
  readonly at: number
  /** How often in a row it did not answer. */
  readonly unanswered?: number
  readonly offer?: StateOffer
}

export class StateDownload {
  readonly #options: StateDownloadOptions
  readonly #timeouts: Timeouts
  readonly #said = new Map<SyncPeer, Said>()
  readonly #asked = new Set<SyncPeer>()
  /** Ids of offers that turned out wrong. */
  readonly #wrong = new Set<string>()
  #firstAnswer: number | undefined
  /** When the peers were gone for the first time whose state was being taken. */
  #goneAt: number | undefined

  constructor(options: StateDownloadOptions) {
    this.#options = options
    this.#timeouts = new Timeouts(options.timers)
  }

  /** Resolves with the state that was checked; with undefined where peers answer and none of them has one. */
  async run(check: CheckParts): Promise<CheckedState | undefined> {
    for (;;) {
      const offer = await this.#best()
      if (offer === undefined) return undefined
      const { log } = this.#options
      log.info({ height: offer.head.height, peers: this.#sources(offer).length }, 'the state is being taken from peers')
      const fetch = new PartFetch({
        ...this.#options,
        offer,
        sources: () => {
          // Peers that come later may have the same.
          this.#askAll()
          return this.#sources(offer)
        },
        onUseless: (peer) => this.#said.set(peer, { at: this.#options.clock.now() }),
      })
      try {
        const state = await check(fetch.parts())
        if (this.#hasItsWork(offer, state)) return state
        this.#blame(offer, 'its headers have other work than it says')
      } catch (error) {
        if (error instanceof StateError) {
          fetch.close()
          await fetch.discard()
          this.#blame(offer, error.message, error.code)
        } else if (!(error instanceof SourcesGone)) throw error
        else {
          this.#goneAt ??= this.#options.clock.now()
          log.warn({}, 'no peer with the state is left; what was taken is kept, and peers are asked again')
        }
      } finally {
        fetch.close()
      }
    }
  }

  close(): void {
    this.#timeouts.close()
  }

  /** Connected peers that make an offer. */
  #sources({ id }: StateOffer): readonly SyncPeer[] {
    return this.#options.peers.all().filter((peer) => !peer.closed && this.#said.get(peer)?.offer?.id === id)
  }

  /** Waits for offers; undefined where peers answer and have none. */
  async #best(): Promise<StateOffer | undefined> {
    const { clock, log, peers } = this.#options
    let sayAt = clock.now() + saidAfter
    for (;;) {
      this.#askAll()
      if (this.#firstAnswer === undefined && clock.now() >= sayAt) {
        const connected = peers.all().length
        log.warn(
          { peers: connected },
          'no peer has said yet whether it has a state; --peer names one, and without --state-from it begins at the first block',
        )
        sayAt = clock.now() + saidAgain
      }
      const offers = this.#offers()
      const waited = clock.now() - (this.#firstAnswer ?? Infinity)
      const answered = [...this.#said.keys()].filter((peer) => !peer.closed).length
      // No other peer is known: none would come.
      const isEach = peers.seeksMore === false && answered === peers.all().length
      if (offers.length > 0 && (isEach || answered >= peersWanted || waited >= morePeers)) return offers[0]
      const isGone = this.#goneAt === undefined || clock.now() - this.#goneAt >= comeBack
      if (offers.length === 0 && waited >= noOffer && isGone) return undefined
      await this.#timeouts.within(new Promise<never>(() => {}), lookInterval)
    }
  }

  /** Offers of connected peers, the best first. */
  #offers(): StateOffer[] {
    const { spec } = this.#options
    const byId = new Map<string, { readonly offer: StateOffer; peers: number }>()
    for (const [peer, { offer }] of this.#said) {
      if (offer === undefined || peer.closed || this.#wrong.has(offer.id)) continue
      const known = byId.get(offer.id)
      if (known === undefined) byId.set(offer.id, { offer, peers: 1 })
      else known.peers++
    }
    const best = [...byId.values()].sort((a, b) => {
      const [one, other] = [a.offer, b.offer]
      // Blocks of little work are cheap, however many: height says nothing there.
      const isHeavier = !spec.hasValidators && one.chainWork !== other.chainWork
      if (isHeavier) return one.chainWork > other.chainWork ? -1 : 1
      if (one.head.height !== other.head.height) return other.head.height - one.head.height
      return b.peers - a.peers
    })
    return best.map(({ offer }) => offer)
  }

  #askAll(): void {
    const now = this.#options.clock.now()
    for (const peer of this.#said.keys()) if (peer.closed) this.#said.delete(peer)
    for (const peer of this.#options.peers.all()) {
      const said = this.#said.get(peer)
      const isDue = said === undefined || (said.offer === undefined && now - said.at >= askAgain)
      if (!isDue || this.#asked.has(peer) || peer.closed) continue
      this.#asked.add(peer)
      void this.#ask(peer).finally(() => this.#asked.delete(peer))
    }
  }

  async #ask(peer: SyncPeer): Promise<void> {
    const { clock, log } = this.#options
    const unanswered = (this.#said.get(peer)?.unanswered ?? 0) + 1
    try {
      const offer = await askForState(peer, this.#options)
      this.#said.set(peer, { at: clock.now(), ...(offer && { offer }) })
    } catch (error) {
      if (!isUnanswered(error)) throw error
      this.#said.set(peer, { at: clock.now(), unanswered })
      if (error instanceof RuleError && penaltyOf(error.code) > 0) penaliseAndDrop(peer, error.code, error.message)
      log.debug({ peer: peer.name, error: String(error) }, 'a peer offers no state')
      // One that is slow, or has just left, has not said that it has none.
      const isSilent = error instanceof LinkError && silences.includes(error.failure)
      if (isSilent && unanswered < unansweredAtMost) return
    }
    this.#firstAnswer ??= clock.now()
  }

  /** Gives an offer up; all who made it pay, unless it is the clock of this node that refuses it. */
  #blame(offer: StateOffer, reason: string, code?: Code): void {
    this.#wrong.add(offer.id)
    this.#options.log.warn({ height: offer.head.height, reason }, 'a state that peers have is wrong')
    if (code === 'block-time-future') return
    for (const peer of this.#sources(offer)) penaliseAndDrop(peer, 'peer-state', reason)
  }

  /** Whether the headers have the work for which an offer was chosen; with validators none was for its work. */
  #hasItsWork({ chainWork }: StateOffer, { work }: CheckedState): boolean {
    const { spec } = this.#options
    return spec.hasValidators || chainWork === work + workOf(genesisBlock(spec).header.bits)
  }
}
