import { checkProofOfWork } from '../../identity/proofs/auxpow-proof.js'
import type { SanityContext } from '../consensus/rule-context.js'
import { bodyMatchSteps } from '../consensus/sanity.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { auxPowBytes } from '../../base/primitives/auxpow.js'
import { Block, blockHashOf } from '../../base/primitives/block.js'
import { displayHash, equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'

/** The block that bytes should be. */
export interface ExpectedBlock {
  readonly hash: Hash
  /** Bytes of an AuxPow whose work is verified. */
  readonly auxPow?: Uint8Array
}

/**
 * Decodes a block and checks that the bytes belong to its header hash: its own transactions, programs and work. Rejects with the
 * RuleError of a mismatch, for which only the sender of the bytes is penalised; another block than expected is `peer-withheld`.
 * No mismatch marks the hash as invalid.
 */
export async function matchBody(bytes: Uint8Array, sanity: SanityContext, expected?: ExpectedBlock): Promise<Block> {
  if (expected !== undefined && !equalBytes(blockHashOf(bytes), expected.hash)) {
    throw new RuleError('peer-withheld', `another block than ${displayHash(expected.hash)} came`)
  }
  const block = await runCooperatively(Block.fromBytesSteps(bytes))
  const verified = expected?.auxPow !== undefined && equalBytes(auxPowBytes(block.auxPow), expected.auxPow)
  if (!verified) checkProofOfWork(sanity.spec, block.header, block.auxPow)
  await runCooperatively(bodyMatchSteps(block, sanity))
  return block
}

/** Whether bytes are the whole block of their header. */
export async function bodyMatches(bytes: Uint8Array, sanity: SanityContext): Promise<boolean> {
  try {
    await matchBody(bytes, sanity)
    return true
  } catch (error) {
    if (error instanceof RuleError) return false
    throw error
  }
}
