import { beginning, visible } from '../text/safe-text.js'
import { ask } from './node-rpc.js'
import type { ChainInfo } from './shapes.js'
import { useAnswer } from './use-answer.js'

/** Characters of a name that are shown: it is of the node. */
const longestName = 32

/** Name of the coins of this chain, `ELA` say; empty until it is known. */
export function useCoin(): string {
  return visible(beginning(useAnswer(chain, ['chain'], { every: 'once' }).value?.coin ?? '', longestName))
}

let known: Promise<ChainInfo> | undefined

/** Name of a validator in the spec of the node; undefined for one without a name, and until it is known. */
export function useValidatorName(key: string): string | undefined {
  const names = useAnswer(chain, ['chain'], { every: 'once' }).value?.validatornames ?? {}
  return Object.hasOwn(names, key) ? visible(beginning(names[key] ?? '', longestName)) : undefined
}

/** Asked once for a page. */
function chain(): Promise<ChainInfo> {
  known ??= ask<ChainInfo>('getchaininfo').catch((error: unknown) => {
    known = undefined
    throw error
  })
  return known
}
