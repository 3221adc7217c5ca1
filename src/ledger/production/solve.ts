import { parentHash, soloAuxPow } from '../../base/primitives/auxpow.js'
import { Block } from '../../base/primitives/block.js'
import { littleEndianInteger } from '../../base/primitives/bytes.js'
import { targetOf } from '../../base/primitives/compact.js'
import { cooperate } from '../../base/runtime/cooperative.js'

/**
 * Searches the parent nonce that gives a block its work, as cooperative work. Undefined if `stop` returns true, or if
 * none of the 2^32 nonces meets the target.
 */
export async function solve(block: Block, stop: () => boolean = () => false): Promise<Block | undefined> {
  const { header, transactions } = block
  const target = targetOf(header.bits)
  const auxPow = soloAuxPow(header.hash, header.time)
  let nonce = 0
  let found: Block | undefined
  await cooperate(() => {
    const attempt = { ...auxPow, parent: { ...auxPow.parent, nonce } }
    if (littleEndianInteger(parentHash(attempt)) <= target) found = new Block(header, attempt, transactions)
    nonce++
    return found === undefined && nonce < 2 ** 32 && !stop()
  })
  return found
}
