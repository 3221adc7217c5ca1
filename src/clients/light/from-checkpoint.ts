import type { Checkpoint } from '../../identity/proofs/trust-root.js'
import type { Server } from './ask-server.js'
import { type Failed, tooFew } from './compare-answers.js'
import { fromCheckpoint as validatorsFrom } from './follow-changes.js'
import { FollowedChain } from './followed-chain.js'
import { FollowedValidators } from './followed-validators.js'
import type { ChainOptions } from './trust-basis.js'
import { asLightError } from './light-error.js'

/** A chain that begins at a checkpoint. Loaded if there is one. */

/** Returns the chain from a trusted block on, with what the first server that can prove it adds to it. */
export async function chainFrom(
  options: ChainOptions,
  servers: readonly Server[],
  checkpoint: Checkpoint,
): Promise<FollowedChain> {
  const failed: Failed[] = []
  for (const server of servers) {
    try {
      return await askedOf(server, options, checkpoint)
    } catch (error) {
      failed.push({ server: server.url, error: asLightError(error) })
    }
  }
  throw tooFew(failed, 0)
}

async function askedOf(server: Server, options: ChainOptions, checkpoint: Checkpoint): Promise<FollowedChain> {
  const { trust } = options
  if (trust.work === undefined) {
    const { seen, lists } = await validatorsFrom(server, checkpoint)
    return new FollowedChain(trust, seen, new FollowedValidators(options, lists, checkpoint.hash))
  }
  const { fromCheckpoint } = await import('./follow-work.js')
  const { seen, work } = await fromCheckpoint(options, server, checkpoint)
  return new FollowedChain(trust, seen, work)
}
