import { RuleError } from '../../base/errors/rule-error.js'
import { fixedLimits, type Spec } from '../../base/primitives/spec.js'
import type { Program } from '../../base/primitives/program.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { scriptAt } from '../../base/primitives/transaction-programs.js'

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

/** Work of the programs of a transaction, each of an accepted form: 1 check for one key, n × k for a multisig; and of so many more checks and keys. */
export function transactionWork(tx: Transaction, moreCost: number, moreKeys = 0): SignatureWork {
  let cost = 0
  let keys = 0
  for (let i = 0; i < tx.programs.length; i++) {
    const script = scriptAt(tx, i)
    const listed = script?.kind === 'multisig' ? script.keys.length : 1
    keys += listed
    cost += listed * ((tx.programs[i] as Program).parameter.length / 65)
  }
  return { cost: cost + moreCost, keys: keys + moreKeys, hashedBytes: cost * tx.unsignedSize }
}

/** Sum of both. */
export function addWork(a: SignatureWork, b: SignatureWork): SignatureWork {
  return { cost: a.cost + b.cost, keys: a.keys + b.keys, hashedBytes: a.hashedBytes + b.hashedBytes }
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
