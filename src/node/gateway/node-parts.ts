import type { ApiContext } from '../../answers/api/api-context.js'
import type { NodeInfo } from '../../answers/api/node-handles.js'
import { NeedsNode } from '../../answers/api/http/needs-node.js'
import { defined } from '../../base/primitives/defined.js'

/** Parts of a node that a gateway lacks: whatever an answer reads of them, a node has to give it. */

/**
 * A stand-in for a part: has the known members, and throws {@link NeedsNode} where another one is read. A Proxy needs no list of members,
 * so answers that read new ones are forwarded to a node as well.
 */
function lacking<Part extends object>(known: Partial<Part> = {}): Part {
  return new Proxy(known as Part, {
    get: (part, name) => {
      if (name in part) return part[name as keyof Part]
      throw new NeedsNode()
    },
  })
}

/** The pool, block production and, on a devnet, the controls of a node that is elsewhere. */
export function lackingParts(isDevnet: boolean): Pick<ApiContext, 'mempool' | 'mining' | 'devnet'> {
  return {
    // It makes no blocks.
    mempool: lacking<ApiContext['mempool']>({ refusedBlocks: { count: 0, reason: undefined } }),
    mining: lacking<ApiContext['mining']>(),
    ...defined({ devnet: isDevnet ? lacking<NonNullable<ApiContext['devnet']>>() : undefined }),
  }
}

/** A node compares heads that others send: it keeps the evidence where they are of another history. */
export const headsElsewhere: NonNullable<ApiContext['compareHeads']> = {
  exchange: () => Promise.reject(new NeedsNode()),
}

/** Facts of a node that is elsewhere: the version of this program alone. */
export function infoOfElsewhere(compile: string): NodeInfo {
  return lacking<NodeInfo>({ compile })
}
