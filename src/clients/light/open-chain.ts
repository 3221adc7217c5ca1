import type { Checkpoint } from '../../identity/proofs/trust-root.js'
import type { Server } from './ask-server.js'
import { FollowedChain } from './followed-chain.js'
import type { ChainOptions } from './trust-basis.js'

/** Returns the chain as it was remembered, from a checkpoint above that, or from genesis on. */
export async function openChain(
  believed: ChainOptions & { readonly checkpoint: Checkpoint | undefined },
  servers: readonly Server[],
  kept: string | undefined,
): Promise<FollowedChain> {
  const memory = kept === undefined ? undefined : await (await import('./light-memory.js')).loadMemory(kept, believed)
  const { checkpoint } = believed
  if (checkpoint === undefined || (memory?.seen.header.height ?? 0) >= checkpoint.height) {
    return FollowedChain.from(believed, memory)
  }
  const { chainFrom } = await import('./from-checkpoint.js')
  return chainFrom(believed, servers, checkpoint)
}
