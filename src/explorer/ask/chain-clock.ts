import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { live } from './live-events.js'
import { methods } from './methods.js'
import { ask } from './node-rpc.js'
import { useNow } from './use-answer.js'

/** The clock of the chain: on a devnet it can be moved ahead of this machine's, and DIDs expire by it. */

/** Seconds between the time of a block and the known clock from which the clock is asked for again. */
const tolerance = 5

class ChainClock {
  /** Seconds by which it is ahead of this machine. */
  offset = 0
  readonly #watchers = new Set<() => void>()

  start(): void {
    void this.refresh()
    let { state } = live.view
    // A devnet that was started again has another clock.
    live.watch(() => {
      if (live.view.state === 'live' && state !== 'live') void this.refresh()
      state = live.view.state
    })
    live.listen((event) => {
      if (event.topic !== 'block' || event.action !== 'apply') return
      if (Math.abs(event.time - Date.now() / 1000 - this.offset) > tolerance) void this.refresh()
    })
  }

  async refresh(): Promise<void> {
    try {
      if (!(await methods()).has('dev_increaseTime')) return
      const time = await ask<number>('dev_increaseTime', { seconds: 0 })
      const difference = time - Math.floor(Date.now() / 1000)
      // Below that it is only the way there and back.
      const offset = Math.abs(difference) < 2 ? 0 : difference
      if (offset === this.offset) return
      this.offset = offset
      for (const watcher of this.#watchers) watcher()
    } catch {
      // The node is gone, and the page says so: the clock stays as it was.
    }
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }
}

export const chainClock = new ChainClock()

/** Whether this machine's clock holds alone: the node may report how far the clock of a devnet was moved, and of no other chain. */
export const OwnClock = createContext(false)

/** The present Unix second of the chain, which moves on while the page is seen. */
export function useChainNow(): number {
  const isOwn = useContext(OwnClock)
  const [offset, setOffset] = useState(chainClock.offset)
  useEffect(() => chainClock.watch(() => setOffset(chainClock.offset)), [])
  return useNow(isOwn ? 0 : offset)
}
