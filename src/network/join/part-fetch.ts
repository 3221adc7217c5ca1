import type { Env } from '../../base/runtime/env.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Part, PartKind } from '../../ledger/state/parts.js'
import { partKind } from '../../ledger/state/parts.js'
import { hashOf, type PartStore } from '../../ledger/state/part-store.js'
import { isUnanswered, penaliseAndDrop, type SyncPeer } from '../fetch/sync-peer.js'
import { sliceBytes, stateSliceExchange } from '../wire/state-message.js'
import type { ListedPart } from '../../ledger/state/listed-part.js'
import type { StateOffer } from './state-offers.js'

/** Parts that are fetched ahead of the one that is checked, for each peer. */
const aheadOfCheck = 2
/** @tuning bytes: parts that are kept in memory from their arrival until they are checked; of others the file is read */
const heldBytes = 8 * 1024 * 1024
/** Answers that a peer may owe before it is asked no more. */
const failuresAtMost = 3
/** Milliseconds after which another peer is asked for a part too. */
const overdueAfter = 20_000

/** In place of the bytes of a part whose sender keeps to no form: no part is empty. */
const noPart = Buffer.alloc(0)

/** No peer is left that has the parts. */
export class SourcesGone extends Error {}

export interface PartFetchOptions extends Pick<Env, 'clock' | 'timers'> {
  readonly offer: StateOffer
  readonly parts: PartStore
  /** The connected peers that list these parts. */
  sources(): readonly SyncPeer[]
  /** Takes a peer that does not hand out what it lists; it is asked no more. */
  onUseless(peer: SyncPeer): void
  readonly progress?: (done: number, total: number) => void
}

/** Fetches the parts of an offer, each from one peer, a few ahead of the one that is wanted, and keeps them in files. */
export class PartFetch {
  readonly #options: PartFetchOptions
  readonly #count: number
  /** The part that is wanted next; those before it were given out. */
  #next = 0
  /** Indices of parts that are in files, from the wanted one on. */
  readonly #there = new Set<number>()
  /** Bytes of some of these, whose hash was compared as they came. */
  readonly #held = new Map<number, Uint8Array>()
  #heldSize = 0
  /** The part that each peer fetches, and since when. */
  readonly #busy = new Map<SyncPeer, { readonly index: number; readonly since: number }>()
  readonly #failures = new Map<SyncPeer, number>()
  #done = 0
  #wake = () => {}
  #failure: unknown
  #closed = false

  constructor(options: PartFetchOptions) {
    this.#options = options
    this.#count = options.offer.parts.count
  }

  /** The parts in their order; rejects with {@link SourcesGone} where no peer has them any more. */
  async *parts(): AsyncGenerator<Part, void, void> {
    const { headBytes, parts } = this.#options.offer
    yield { kind: partKind.head, number: 0, bytes: headBytes }
    while (this.#next < this.#count) {
      const { kind, number, hash } = parts.at(this.#next)
      const bytes = await this.#take(this.#next, hash)
      yield { kind: kind as PartKind, number, bytes }
    }
  }

  /** Deletes the last part returned, which failed its check, and those fetched ahead. Otherwise a false offer would leave them on disk. */
  async discard(): Promise<void> {
    const { parts, offer } = this.#options
    const ahead = [this.#next - 1, ...this.#there].filter((index) => index >= 0)
    for (const index of ahead) await parts.drop(offer.parts.at(index).hash)
  }

  /** Asks for nothing more. */
  close(): void {
    this.#closed = true
  }

  async #take(index: number, hash: ListedPart['hash']): Promise<Uint8Array> {
    for (;;) {
      const wasThere = this.#there.has(index)
      const bytes = this.#release(index) ?? (await this.#options.parts.get(hash))
      // It may have come in between.
      this.#release(index)
      if (bytes !== undefined) {
        if (!this.#there.delete(index)) this.#counted(bytes.length)
        this.#next = index + 1
        this.#fill()
        return bytes
      }
      if (wasThere) this.#lost(index)
      // It came while the file was looked for.
      else if (this.#there.has(index)) continue
      this.#fill()
      if (this.#failure !== undefined) throw this.#failure
      if (this.#busy.size === 0) throw new SourcesGone()
      await this.#awaken()
    }
  }

  /** Keeps a part in memory where there is room: its file is there for the next start. */
  #hold(index: number, bytes: Uint8Array): void {
    if (this.#heldSize + bytes.length > heldBytes) return
    this.#held.set(index, bytes)
    this.#heldSize += bytes.length
  }

  #release(index: number): Uint8Array | undefined {
    const bytes = this.#held.get(index)
    if (bytes !== undefined && this.#held.delete(index)) this.#heldSize -= bytes.length
    return bytes
  }

  /** Waits for a part, or until a peer is overdue with one. */
  async #awaken(): Promise<void> {
    let cancel = () => {}
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      cancel = this.#options.timers.after(overdueAfter, resolve)
    })
    cancel()
  }

  /** Forgets a part whose file is gone or damaged. */
  #lost(index: number): void {
    this.#there.delete(index)
    this.#done -= this.#options.offer.parts.at(index).length
  }

  #counted(bytes: number): void {
    this.#done += bytes
    this.#options.progress?.(this.#done, this.#options.offer.parts.size)
  }

  /** Has each peer that is free fetch the first part that no other one does, or is overdue with. */
  #fill(): void {
    if (this.#closed) return
    const { sources: connected, clock } = this.#options
    const sources = connected()
    const end = Math.min(this.#count, this.#next + 1 + aheadOfCheck * sources.length)
    for (const peer of sources) {
      if (this.#busy.has(peer)) continue
      const due = [...this.#busy.values()].filter(({ since }) => clock.now() - since < overdueAfter)
      const asked = new Set(due.map((one) => one.index))
      let index = this.#next
      while (index < end && (this.#there.has(index) || asked.has(index))) index++
      if (index >= end) return
      this.#busy.set(peer, { index, since: clock.now() })
      void this.#fetch(peer, index).finally(() => {
        this.#busy.delete(peer)
        this.#fill()
        this.#wake()
      })
    }
  }

  async #fetch(peer: SyncPeer, index: number): Promise<void> {
    const { parts, offer } = this.#options
    const part = offer.parts.at(index)
    try {
      // From an earlier run, or of an offer that was wrong elsewhere.
      let bytes = await parts.get(part.hash)
      if (bytes === undefined) {
        bytes = await this.#bytesOf(peer, index, part)
        if (bytes === undefined) {
          this.#failed(peer)
          return
        }
        if (bytes.length !== part.length || !equalBytes(hashOf(bytes), part.hash)) {
          penaliseAndDrop(peer, 'peer-state', `part ${part.kind}/${part.number} is another one than it listed`)
          return
        }
        await parts.put(part.hash, bytes)
      }
      this.#failures.delete(peer)
      if (index < this.#next || this.#there.has(index)) return
      this.#there.add(index)
      this.#hold(index, bytes)
      this.#counted(part.length)
    } catch (error) {
      // Of the own disk.
      if (!isUnanswered(error)) this.#failure = error
      this.#failed(peer)
    }
  }

  /** Asks for all slices of a part; undefined where the peer does not have one of them any more. */
  async #bytesOf(peer: SyncPeer, index: number, { length }: ListedPart): Promise<Uint8Array | undefined> {
    const block = this.#options.offer.header.hash
    let bytes = Buffer.alloc(0)
    for (let from = 0; from < length;) {
      if (this.#closed) return undefined
      const slice = await peer.ask(stateSliceExchange, { block, index, from })
      if (slice.length === 0) return undefined
      // In drops it would take as long as it likes.
      if (slice.length !== Math.min(sliceBytes, length - from)) return noPart
      // Room for all of it once it sends some.
      if (from === 0) bytes = Buffer.allocUnsafeSlow(length)
      bytes.set(slice, from)
      from += slice.length
    }
    return bytes
  }

  #failed(peer: SyncPeer): void {
    const failures = (this.#failures.get(peer) ?? 0) + 1
    this.#failures.set(peer, failures)
    // It may list them again later, and is no better then until it hands one out.
    if (failures >= failuresAtMost) this.#options.onUseless(peer)
  }
}
