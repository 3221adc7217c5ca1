import { toHex } from '../../base/primitives/bytes.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import { devnetMnemonic, isDevnetMnemonic } from '../../clients/wallet/devnet-accounts.js'

/** A well-known account with its balance as text; absent where the node cannot tell it. */
export interface FundedAccount extends SigningAccount {
  readonly balance?: string
}

/** The account table of a devnet of one or several nodes. */
export function accountLines(accounts: readonly FundedAccount[], mnemonic = devnetMnemonic): string[] {
  return [
    isDevnetMnemonic(mnemonic)
      ? 'Accounts. Everybody knows these keys: never use them for anything of value.'
      : 'Accounts of your mnemonic. Keys that are shown are for tests alone.',
    '',
    ...accounts.flatMap(({ index, address, did, privateKey, balance }) => [
      `(${index})  ${address}${balance === undefined ? '' : `  ${balance} ELA`}`,
      `     ${did}`,
      `     key ${toHex(privateKey)}`,
    ]),
    '',
    `Mnemonic  ${mnemonic}`,
    "Path      m/44'/0'/0'/0/n",
  ]
}

export function accountJson({ address, did, privateKey, balance }: FundedAccount) {
  return { address, did, key: toHex(privateKey), balance }
}
