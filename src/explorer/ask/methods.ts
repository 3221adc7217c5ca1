import { ask } from './node-rpc.js'
import { useAnswer } from './use-answer.js'

/** Names of the methods that this node has; a devnet has more than others. Asked once for a page. */
export function methods(): Promise<ReadonlySet<string>> {
  names ??= ask<string>('help').then(
    (text) => new Set(text.split(/\n|==/)),
    (error: unknown) => {
      names = undefined
      throw error
    },
  )
  return names
}

let names: Promise<ReadonlySet<string>> | undefined

const none: ReadonlySet<string> = new Set()

/** {@link methods}; none until they are known. */
export function useMethods(): ReadonlySet<string> {
  return useAnswer(methods, ['methods'], { every: 'once' }).value ?? none
}
