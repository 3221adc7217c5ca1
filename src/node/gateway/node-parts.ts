import type { ApiContext } from '../../answers/api/api-context.js'
import type { NodeInfo } from '../../answers/api/node-handles.js'
import { NeedsNode } from '../../answers/api/http/needs-node.js'

/** Parts of a node that a gateway lacks: whatever an answer reads of them, a node has to give it. */

type Lacking = Pick<ApiContext, 'mempool' | 'mining' | 'devnet' | 'network' | 'voting'>

/** Anything of a part needs a node, but what is known of it. */
function lacking<Part extends object>(known: object = {}): Part {
  return new Proxy(known as Part, {
    get: (part, name) => {
      if (name in part) return part[name as keyof Part]
      throw new NeedsNode()
    },
  })
}

/** The pool, block production and, on a devnet, the controls of a node that is elsewhere. */
export function lackingParts(isDevnet: boolean): Lacking {
  const whole = {
    // It makes no blocks.
    mempool: lacking<ApiContext['mempool']>({ refusedBlocks: { count: 0, reason: undefined } }),
    mining: lacking<ApiContext['mining']>(),
    ...(isDevnet && { devnet: lacking<NonNullable<ApiContext['devnet']>>() }),
  }
  // Asked for whether they are there: a node may have them.
  for (const name of ['network', 'voting']) {
    Object.defineProperty(whole, name, {
      enumerable: true,
      get: () => {
        throw new NeedsNode()
      },
    })
  }
  return whole
}

/** Facts of a node that is elsewhere: the version of this program alone. */
export function infoOfElsewhere(compile: string): NodeInfo {
  return lacking<NodeInfo>({ compile })
}
