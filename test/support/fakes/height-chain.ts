import { EventEmitter } from 'node:events'
import type { Chain } from '../../../src/ledger/chain/chain.js'

/** The part of a chain that requests wait for: its height, and that it changes. */
export function heightChain(): { readonly chain: Pick<Chain, 'tip' | 'events'>; rise(height: number): void } {
  const events = new EventEmitter()
  const chain = { tip: { header: { height: 0 } }, events }
  return {
    chain: chain as unknown as Pick<Chain, 'tip' | 'events'>,
    rise: (height) => {
      chain.tip = { header: { height } }
      events.emit('change')
    },
  }
}
