import { checkProofOfWork } from '../consensus/auxpow.js'
import { bodyMatchSteps, type SanityContext } from '../consensus/sanity.js'
import { RuleError } from '../errors.js'
import { Block } from '../primitives/block.js'
import { runInSlices } from '../slices.js'

/**
 * Checks that bytes are what the hash of their header stands for: a block with its own transactions, programs and work.
 * Rejects with the RuleError of what does not match, for which nobody but who sent the bytes is to blame.
 */
export async function checkBodyMatch(bytes: Uint8Array, sanity: SanityContext): Promise<void> {
  const block = await runInSlices(Block.fromBytesSteps(bytes))
  checkProofOfWork(sanity.spec, block.header, block.auxPow)
  await runInSlices(bodyMatchSteps(block, sanity))
}

export async function bodyMatches(bytes: Uint8Array, sanity: SanityContext): Promise<boolean> {
  try {
    await checkBodyMatch(bytes, sanity)
    return true
  } catch (error) {
    if (error instanceof RuleError) return false
    throw error
  }
}
