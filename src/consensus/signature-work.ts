import { RuleError } from '../errors/rule-error.js'
import { fixedLimits, type Spec } from '../primitives/spec.js'
import type { Transaction } from '../primitives/transaction.js'

/**
 * Work of verifying signatures. A check is one verification by a known key; a new key costs about two more, and each verification
 * hashes the whole signed message.
 */
export interface SignatureWork {
  /** Signature cost: the most verifications that can be needed. */
  readonly cost: number
  /** Keys that programs list, and those that may have signed a side-chain proof of work. */
  readonly keys: number
  /** Bytes hashed for programs: the unsigned part once for each of their verifications. */
  readonly hashedBytes: number
}

export const noWork: SignatureWork = { cost: 0, keys: 0, hashedBytes: 0 }

/** Work of the programs of a transaction: 1 check for one key, n × k for a multisig. */
export function programWork(tx: Transaction): SignatureWork {
  let [cost, keys] = [0, 0]
  for (const [i, { parameter }] of tx.programs.entries()) {
    const script = tx.scriptAt(i)
    const listed = script?.kind === 'multisig' ? script.keys.length : 1
    keys += listed
    cost += script?.kind === 'multisig' ? listed * (parameter.length / 65) : 1
  }
  return { cost, keys, hashedBytes: cost * tx.unsigned.length }
}

/** Sum of both, and `cost` more checks. */
export function addWork(a: SignatureWork, b: SignatureWork, cost = 0): SignatureWork {
  return { cost: a.cost + b.cost + cost, keys: a.keys + b.keys, hashedBytes: a.hashedBytes + b.hashedBytes }
}

/** Throws when the transactions of one block exceed its limits; `share` (0 to 1) is the part of the limits that applies. */
export function requireWork(work: SignatureWork, { blockCost }: Pick<Spec['limits'], 'blockCost'>, share = 1): void {
  const { blockKeys, blockHashedBytes } = fixedLimits
  if (work.cost > share * blockCost) {
    throw new RuleError('block-signature-cost', `${work.cost}, at most ${share * blockCost}`)
  }
  if (work.keys > share * blockKeys || work.hashedBytes > share * blockHashedBytes) {
    const most = `at most ${share * blockKeys} and ${share * blockHashedBytes}`
    throw new RuleError('block-signature-work', `${work.keys} keys, ${work.hashedBytes} bytes to hash; ${most}`)
  }
}
