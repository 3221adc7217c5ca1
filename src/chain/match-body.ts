import { checkProofOfWork } from '../consensus/check-auxpow.js'
import { bodyMatchSteps, type SanityContext } from '../consensus/sanity.js'
import { RuleError } from '../errors/rule-error.js'
import { auxPowBytes } from '../primitives/auxpow.js'
import { Block } from '../primitives/block.js'
import { equalBytes } from '../primitives/bytes.js'
import { type Header, headerSize } from '../primitives/header.js'
import { runCooperatively } from '../runtime/cooperative.js'

/**
 * Checks that bytes are the block of their header hash, with its own transactions, programs and work. Rejects with the
 * RuleError of a mismatch, for which only the sender of the bytes is penalised.
 */
export async function checkBodyMatch(bytes: Uint8Array, sanity: SanityContext): Promise<void> {
  const block = await runCooperatively(Block.fromBytesSteps(bytes))
  checkProofOfWork(sanity.spec, block.header, block.auxPow)
  await runCooperatively(bodyMatchSteps(block, sanity))
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

/**
 * Decodes the block of a header whose AuxPow has the bytes `auxPow`. Rejects with a RuleError when the bytes do not match; no
 * mismatch marks the hash as invalid.
 */
export async function matchBody(
  bytes: Uint8Array,
  unit: { readonly header: Header; readonly auxPow: Uint8Array },
  sanity: SanityContext,
): Promise<Block> {
  if (!equalBytes(bytes.subarray(0, headerSize), unit.header.bytes)) {
    throw new RuleError('peer-message', 'it is another block than the one asked for')
  }
  const block = await runCooperatively(Block.fromBytesSteps(bytes))
  if (!equalBytes(auxPowBytes(block.auxPow), unit.auxPow)) checkProofOfWork(sanity.spec, block.header, block.auxPow)
  await runCooperatively(bodyMatchSteps(block, sanity))
  return block
}
