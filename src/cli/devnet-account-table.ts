import { toHex } from '../primitives/bytes.js'
import type { SigningAccount } from '../wallet/accounts.js'
import { devnetMnemonic } from '../wallet/devnet-accounts.js'

/** A well-known account with its balance as text. */
export interface FundedAccount extends SigningAccount {
  readonly balance: string
}

/** The account table of a devnet of one or several nodes. */
export function accountLines(accounts: readonly FundedAccount[]): string[] {
  return [
    'Accounts. Everybody knows these keys: never use them for anything of value.',
    '',
    ...accounts.flatMap(({ index, address, did, privateKey, balance }) => [
      `(${index})  ${address}  ${balance} ELA`,
      `     ${did}`,
      `     key ${toHex(privateKey)}`,
    ]),
    '',
    `Mnemonic  ${devnetMnemonic}`,
    "Path      m/44'/0'/0'/0/n",
  ]
}

export function accountJson({ address, did, privateKey, balance }: FundedAccount) {
  return { address, did, key: toHex(privateKey), balance }
}
