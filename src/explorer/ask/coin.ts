import { beginning, visible } from '../text/safe-text.js'
import { ask } from './node-rpc.js'
import type { ChainInfo } from './shapes.js'
import { useAnswer } from './use-answer.js'

/** Characters of the name of a coin that are shown: it is of the node. */
const longestName = 16

/** Name of the coins of this chain, `ELA` say; empty until it is known. */
export function useCoin(): string {
  return useAnswer(coin, ['coin'], { every: 'once' }).value ?? ''
}

let known: Promise<string> | undefined

/** Asked once for a page. */
function coin(): Promise<string> {
  known ??= ask<ChainInfo>('getchaininfo').then(
    (info) => visible(beginning(info.coin, longestName)),
    (error: unknown) => {
      known = undefined
      throw error
    },
  )
  return known
}
