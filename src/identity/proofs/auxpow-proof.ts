import { RuleError } from '../../base/errors/rule-error.js'
import { type AuxPow, auxPowBytes, maxAuxPowSize, mergedMiningMagic, parentHash } from '../../base/primitives/auxpow.js'
import { equalBytes, littleEndianInteger, reversed, toHex } from '../../base/primitives/bytes.js'
import { Reader } from '../../base/primitives/codec.js'
import { targetOf } from '../../base/primitives/compact.js'
import { type Hash, sha256d, zeroHash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { foldBranch } from '../../base/primitives/merkle.js'

/** @limit count: hashes of an AuxPow's coinbase branch */
const maxCoinbaseBranch = 32
/** @limit count: hashes of an AuxPow's chain branch */
const maxAuxBranch = 16

/**
 * The family's check that a parent block was mined for `blockHash` on the chain with this id (format 5.6). Throws
 * `auxpow-parent`, `auxpow-commitment` or `auxpow-index`.
 */
export function checkAuxPow(auxPow: AuxPow, blockHash: Hash, chainId: number): void {
  if (auxPow.coinbaseBranch.length > maxCoinbaseBranch || auxPow.auxBranch.length > maxAuxBranch) {
    throw new RuleError('auxpow-index', `branches are at most ${maxCoinbaseBranch} and ${maxAuxBranch} nodes long`)
  }
  const parentRoot = foldBranch(sha256d(auxPow.coinbase.bytes), auxPow.coinbaseBranch, auxPow.coinbaseIndex)
  if (!equalBytes(parentRoot, auxPow.parent.merkleRoot)) {
    throw new RuleError('auxpow-parent', 'the parent coinbase does not lead to the merkle root of the parent header')
  }
  const auxRoot = reversed(foldBranch(reversed(blockHash), auxPow.auxBranch, auxPow.auxIndex))
  const script = auxPow.coinbase.scripts[0] ?? new Uint8Array(0)
  const at = placeOfMagic(script, 0)
  if (at < 0 || placeOfMagic(script, at + 1) >= 0) {
    throw new RuleError('auxpow-commitment', 'the parent coinbase script does not hold the magic exactly once')
  }
  const commitment = script.subarray(at + 4)
  if (commitment.length < 40 || !equalBytes(commitment.subarray(0, 32), auxRoot)) {
    throw new RuleError('auxpow-commitment', `the parent coinbase does not commit to ${toHex(auxRoot)}`)
  }
  const size = 2 ** auxPow.auxBranch.length
  const place = new Reader(commitment.subarray(32, 40))
  if (place.u32() !== size || auxPow.auxIndex !== expectedIndex(place.u32(), chainId, size)) {
    throw new RuleError('auxpow-index', 'the aux branch is not at the place its nonce and chain id ask for')
  }
}

/** Returns the index of the magic in a script, from `from` on; -1 without it. */
function placeOfMagic(script: Uint8Array, from: number): number {
  const [first] = mergedMiningMagic
  for (let at = script.indexOf(first as number, from); at >= 0; at = script.indexOf(first as number, at + 1)) {
    if (mergedMiningMagic.every((byte, i) => script[at + i] === byte)) return at
  }
  return -1
}

/** Index of a chain with this id in an aux tree of `size` leaves. */
function expectedIndex(nonce: number, chainId: number, size: number): number {
  const scramble = (value: number) => (Math.imul(value, 1103515245) + 12345) >>> 0
  return scramble((scramble(nonce) + chainId) >>> 0) % size
}

/**
 * All rules for the AuxPow of a header: the family's check, our bounds on what it leaves free, and the work. A failure implies
 * nothing about the block itself: its hash does not cover the AuxPow.
 */
export function checkProofOfWork(
  { auxpowChainId }: { readonly auxpowChainId: number },
  header: Pick<Header, 'hash' | 'bits'>,
  auxPow: AuxPow,
): void {
  const size = auxPowBytes(auxPow).length
  if (size > maxAuxPowSize) throw new RuleError('auxpow-size', `${size} bytes, at most ${maxAuxPowSize}`)
  // Any other index would let one parent block prove several of ours.
  if (auxPow.coinbaseIndex !== 0) throw new RuleError('auxpow-index', 'the parent coinbase index is not 0')
  if (!equalBytes(auxPow.parentHash, zeroHash))
    throw new RuleError('auxpow-index', 'the unused parent hash is not zero')
  checkAuxPow(auxPow, header.hash, auxpowChainId)
  if (littleEndianInteger(parentHash(auxPow)) > targetOf(header.bits)) {
    throw new RuleError('auxpow-work', 'the parent block hash is above the target of the header')
  }
}
