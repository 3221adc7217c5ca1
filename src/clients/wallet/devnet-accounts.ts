import { childKeys, seedOf } from '../../base/crypto/hd.js'
import { InvariantError } from '../../base/errors/rule-error.js'
import { accountsBelow, accountSource, derivedPair, type KeyPair, type SigningAccount } from './accounts.js'

/** The mnemonic of every devnet. It is public: never use its keys for anything of value. */
export const devnetMnemonic = 'test test test test test test test test test test test junk'

/** Accounts that the genesis block of a devnet pays. */
export const devnetAccountCount = 10
/**
 * The faucet's funds suffice for as many.
 * @limit count: accounts that a devnet pays and shows
 */
export const maxDevnetAccounts = 100
/** @limit count: DIDs that a devnet registers to begin with */
export const maxSeededDids = 100_000
/** Allocation of the genesis block per account, in units of 10^-8. */
export const devnetAccountFunds = 1_000_000_000_000n

/** Path of the faucet's key below {@link devnetMnemonic}. */
export const faucetPath = "m/44'/0'/0'/1/0"
/** Path of validator keys below {@link devnetMnemonic}: 0 is that of a devnet, 0 to 3 are those of a localnet. */
export const devnetValidatorPath = "m/44'/0'/1'/0"
/** Path of the keys of the DIDs that a devnet registers to begin with, below {@link devnetMnemonic}; the last number is that of the DID. */
export const seededDidPath = "m/44'/0'/3'/0"
/** Path of the key that pays for these. */
const registrarPath = "m/44'/0'/1'/1/0"
/** Validators of a localnet. */
export const localnetValidatorCount = 4

let source: ((index: number) => SigningAccount) | undefined
const known = new Map<number, SigningAccount>()
let seed: Uint8Array | undefined

/** Account `index` of every devnet, at m/44'/0'/0'/0/index; its recovery key is at m/44'/0'/2'/0/index. */
export function devnetAccount(index: number): SigningAccount {
  source ??= accountsBelow(devnetSeed())
  let account = known.get(index)
  // Some milliseconds each, and a start needs all of them several times.
  if (account === undefined) known.set(index, (account = source(index)))
  return account
}

/** The accounts of a devnet with another mnemonic, at the same paths. A {@link UserError} for none of BIP-39. */
export function devnetAccountsOf(mnemonic: string): (index: number) => SigningAccount {
  return isDevnetMnemonic(mnemonic) ? devnetAccount : accountSource({ kind: 'mnemonic', mnemonic })
}

/** Whether a mnemonic is the one of every devnet; case and the amount of white space do not matter. */
export function isDevnetMnemonic(mnemonic: string): boolean {
  return mnemonic.trim().toLowerCase().split(/\s+/).join(' ') === devnetMnemonic
}

/** The key that the genesis allocation of a devnet pays and the faucet spends from. */
export function faucetKey(): KeyPair {
  return derivedPair(devnetSeed(), faucetPath)
}

/** The key of a well-known validator: 0 is the one of a devnet, and the first of the four of a localnet. */
export function devnetValidatorKey(index = 0): KeyPair {
  return derivedPair(devnetSeed(), `${devnetValidatorPath}/${index}`)
}

/** The key that pays for the DIDs that a devnet registers to begin with. */
export function registrarKey(): KeyPair {
  return derivedPair(devnetSeed(), registrarPath)
}

/** The private keys of these DIDs, by number. */
export function seededDidKeys(): (index: number) => Uint8Array | undefined {
  return childKeys(devnetSeed(), seededDidPath)
}

function devnetSeed(): Uint8Array {
  seed ??= seedOf(devnetMnemonic)
  if (seed === undefined) throw new InvariantError('the devnet mnemonic is not valid')
  return seed
}
