import { seedOf } from '../crypto/hd.js'
import { InvariantError } from '../errors.js'
import { accountSource, derivedPair, type KeyPair, type SigningAccount } from './accounts.js'

/** The mnemonic of every devnet. Everybody knows it: never use its keys for anything of value. */
export const devnetMnemonic = 'test test test test test test test test test test test junk'

/** How many accounts the genesis block of a devnet pays. */
export const devnetAccountCount = 10
/** How many a devnet can be asked to pay and show: what its faucet holds is enough for. */
export const maxDevnetAccounts = 100
/** What the genesis block pays each, in units of 10^-8. */
export const devnetAccountFunds = 1_000_000_000_000n

/** Where the faucet's key stands below {@link devnetMnemonic}. */
export const faucetPath = "m/44'/0'/0'/1/0"
/** Where the key of a devnet's validator stands below {@link devnetMnemonic}. */
export const devnetValidatorPath = "m/44'/0'/1'/0/0"

let source: ((index: number) => SigningAccount) | undefined
let seed: Uint8Array | undefined

/** Account `index` of every devnet, at m/44'/0'/0'/0/index; its recovery key is at m/44'/0'/2'/0/index. */
export function devnetAccount(index: number): SigningAccount {
  source ??= accountSource({ kind: 'mnemonic', mnemonic: devnetMnemonic })
  return source(index)
}

/** The key that the genesis allocation of a devnet pays and the faucet spends from. */
export function faucetKey(): KeyPair {
  return derivedPair(devnetSeed(), faucetPath)
}

/** The key of the one validator of a devnet. */
export function devnetValidatorKey(): KeyPair {
  return derivedPair(devnetSeed(), devnetValidatorPath)
}

function devnetSeed(): Uint8Array {
  seed ??= seedOf(devnetMnemonic)
  if (seed === undefined) throw new InvariantError('the devnet mnemonic is not valid')
  return seed
}
