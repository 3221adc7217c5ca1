import { RuleError } from '../../../base/errors/rule-error.js'
import { isObject } from '../../../base/primitives/is-object.js'
import { displayHash } from '../../../base/primitives/bytes.js'
import { reorganisationDepth } from '../../../ledger/chain/branches.js'
import type { ChainView } from '../../../ledger/chain/chain-view.js'
import type { ApiLimits } from '../api-limits.js'

/** @tuning ms: wait of an event for its block, after which the client is sent to another gateway */
const patience = 10_000
/** @tuning count: blocks of which it is known that the gateway shows them */
const mostKnown = 1024

/** A block that is part of the chain now, or no longer. */
export interface BlockMark {
  readonly height: number
  /** Display hex. */
  readonly hash: string
  readonly isActive: boolean
}

/** The block of an event; undefined: it has none. */
export function markOf(params: Readonly<Record<string, unknown>>): BlockMark | undefined {
  const { height, hash = params['blockhash'], action } = params
  if (typeof height !== 'number' || typeof hash !== 'string') return undefined
  return { height, hash, isActive: action !== 'revert' }
}

/** The block to which a subscription has led at its beginning. */
export function markOfStart(result: unknown): BlockMark | undefined {
  return isObject(result) ? markOf(result) : undefined
}

/**
 * Lets what a node says of a block wait until the gateway shows it as well: a client that is told of a block asks the gateway for it next.
 * Blocks deeper than a reorganisation goes are told by their height alone.
 */
export class ShownBlocks {
  readonly #chain: Pick<ChainView, 'tip' | 'headers' | 'database' | 'events'>
  readonly #limits: Pick<ApiLimits, 'heightWait'>
  /** Blocks that are awaited, or shown (`true`), at this tip. */
  readonly #known = new Map<string, Promise<void> | true>()
  readonly #waiters = new Set<() => void>()
  readonly #moved = () => {
    this.#known.clear()
    for (const wake of [...this.#waiters]) wake()
  }

  constructor(
    chain: Pick<ChainView, 'tip' | 'headers' | 'database' | 'events'>,
    limits: Pick<ApiLimits, 'heightWait'>,
  ) {
    this.#chain = chain
    this.#limits = limits
    chain.events.on('change', this.#moved)
  }

  close(): void {
    this.#chain.events.off('change', this.#moved)
    this.#moved()
  }

  /**
   * Resolves once the gateway shows what a node says of a block; undefined: it does. `behind-height` where it is not as high in time. A block
   * of another branch is waited for as long as a height, and then told: it may have left the chain by now, which the next event says.
   */
  until(mark: BlockMark): Promise<void> | undefined {
    const { height, id } = this.#chain.tip.header
    const isTip = mark.height === height && mark.hash === id
    if (mark.height + reorganisationDepth <= height || (isTip && mark.isActive)) return undefined
    const name = `${mark.hash} ${mark.isActive}`
    const known = this.#known.get(name)
    if (known === true) return undefined
    if (known !== undefined) return known
    const shown = this.#wait(mark).then(
      () => this.#keep(name, true),
      (error: unknown) => {
        this.#known.delete(name)
        throw error
      },
    )
    this.#keep(name, shown)
    return shown
  }

  #keep(name: string, state: Promise<void> | true): void {
    if (this.#known.size >= mostKnown) this.#known.clear()
    this.#known.set(name, state)
  }

  async #wait(mark: BlockMark): Promise<void> {
    const began = performance.now()
    for (;;) {
      const moved = this.#nextMove()
      try {
        if (await this.#shows(mark)) return
        const isAbove = mark.isActive && mark.height > this.#chain.tip.header.height
        const left = (isAbove ? patience : this.#limits.heightWait) + began - performance.now()
        if (left > 0) await moved.within(left)
        else if (isAbove) throw this.#behind(mark.height)
        else return
      } finally {
        moved.end()
      }
    }
  }

  /** Whether the rows say of a block what its mark says; false also while they cannot be read. */
  async #shows({ height, hash, isActive }: BlockMark): Promise<boolean> {
    const { tip, headers, database } = this.#chain
    if (height > tip.header.height) return !isActive
    const read = database.settle(() => headers.activeHash(height))
    const active = await read.catch(() => undefined)
    return active !== undefined && (displayHash(active) === hash) === isActive
  }

  /** The next time that the tip moves. */
  #nextMove(): { within(milliseconds: number): Promise<void>; end(): void } {
    let timer: NodeJS.Timeout | undefined
    let wake = () => {}
    const moved = new Promise<void>((resolve) => (wake = resolve))
    this.#waiters.add(wake)
    const end = () => {
      clearTimeout(timer)
      this.#waiters.delete(wake)
    }
    const within = (milliseconds: number) => {
      timer = setTimeout(wake, milliseconds)
      return moved
    }
    return { within, end }
  }

  #behind(height: number): RuleError {
    return new RuleError(
      'behind-height',
      `the gateway is at height ${this.#chain.tip.header.height}, not yet at ${height}; ask another one`,
    )
  }
}
