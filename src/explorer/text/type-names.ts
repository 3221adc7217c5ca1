/** Types of transactions in words. Pure. */

const names: Readonly<Record<number, string>> = {
  0: 'coinbase',
  1: 'asset',
  2: 'transfer',
  3: 'record',
  5: 'side-chain work',
  6: 'recharge',
  7: 'withdrawal',
  8: 'to a side chain',
  10: 'DID operation',
}

export function typeName(type: number): string {
  return names[type] ?? `type ${type}`
}

/** States of a DID. */
export function statusName(status: 0 | 1 | 2 | 3): string {
  return ['valid', 'expired', 'deactivated', 'does not exist'][status] as string
}

/** States of a credential on the chain. */
export function credentialStatusName(status: 0 | 1 | 2 | 3): string {
  return ['declared', 'declared, expired', 'revoked', 'not declared'][status] as string
}
