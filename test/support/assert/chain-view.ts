import type { StartPoint } from '../../../src/ledger/events/event-cursor.js'
import type { BlockChanged, DidChanged, EventData } from '../../../src/base/primitives/chain-event.js'
import { hex, reversed } from '../../../src/base/primitives/bytes.js'

/** A block as events tell of it. */
export interface SeenBlock {
  readonly height: number
  readonly hash: string
  readonly previous: string
  /** `did operation txid` in block order. */
  readonly operations: readonly string[]
}

/** An event as it comes over the wire, or its number with what it says. */
export type ToldEvent = EventData & { readonly number: number | null }

/**
 * The chain as a client knows it that has nothing but events of blocks and DIDs. Anything that does not follow from what
 * came before is an error: a block that is missing or comes twice, a revert of something else than the newest.
 */
export class ChainView {
  readonly blocks: SeenBlock[] = []
  /** The number of the last event; undefined where it had none, being told again. */
  number: number | undefined
  /** Operations that the event of their block has not followed yet. */
  #pending: DidChanged[] = []

  get tip(): SeenBlock | undefined {
    return this.blocks.at(-1)
  }

  /** Every operation of the chain, oldest first. */
  get operations(): string[] {
    return this.blocks.flatMap(({ operations }) => operations)
  }

  take(event: ToldEvent): void {
    if (event.number !== null && event.number <= (this.number ?? 0)) throw new Error(`${event.number} came again`)
    this.number = event.number ?? undefined
    if (event.topic === 'did') this.#pending.push(event)
    else if (event.topic === 'block') this.#takeBlock(event)
  }

  /** Forgets what a lost connection left unfinished, to go on after the newest block. */
  interrupted(): void {
    this.#pending = []
    this.number = undefined
  }

  /** Start point after the newest block. */
  get afterBlock(): StartPoint {
    return this.tip === undefined
      ? { kind: 'height', height: 0 }
      : { kind: 'block', hash: reversed(hex(this.tip.hash)) }
  }

  #takeBlock({ action, height, hash, previousblockhash: previous }: BlockChanged): void {
    const told = this.#pending.map((event) => {
      if (event.action !== action || event.blockhash !== hash || event.height !== height) {
        throw new Error(`an operation of ${event.blockhash} stands among those of ${hash}`)
      }
      return `${event.did} ${event.operation} ${event.txid}`
    })
    this.#pending = []
    const { tip } = this
    if (action === 'apply') {
      if (tip !== undefined && (tip.hash !== previous || tip.height !== height - 1)) {
        throw new Error(`block ${hash} at ${height} does not stand on ${tip.hash} at ${tip.height}`)
      }
      this.blocks.push({ height, hash, previous, operations: told })
      return
    }
    if (tip?.hash !== hash) throw new Error(`${hash} was taken back, the newest is ${tip?.hash}`)
    if (String(told.reverse()) !== String(tip.operations)) throw new Error(`other operations of ${hash} came back`)
    this.blocks.pop()
  }
}
