import { childKeys, keyFolder, keyFromSeed, keyPath, mnemonicFault, seedOf } from '../../base/crypto/hd.js'
import { publicKeyOf } from '../../base/crypto/keys.js'
import { UserError } from '../../base/errors/rule-error.js'
import { addressFromPublicKey, didFromPublicKey } from '../../base/primitives/address.js'
import { didMethod } from '../../base/primitives/did-method.js'

/** The public part of an account of a wallet: the same key pays from `address` and is the default key of `did`. */
export interface Account {
  readonly index: number
  readonly address: string
  readonly did: string
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
}

export interface KeyPair {
  /** 32 bytes. */
  readonly privateKey: Uint8Array
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
}

/** An account that can sign. */
export interface SigningAccount extends Account, KeyPair {
  /** The second identity key of the account; a wallet of imported keys has none. */
  readonly recovery?: KeyPair
}

/** The secret of a wallet: a mnemonic, or private keys in the order they were imported. */
export type WalletSecret =
  | { readonly kind: 'mnemonic'; readonly mnemonic: string }
  | { readonly kind: 'keys'; readonly privateKeys: readonly Uint8Array[] }

const recoveryFolder = "m/44'/0'/2'/0"

/** The path of the recovery key of account `index`; the account keys are at {@link keyPath}. */
export function recoveryPath(index: number): string {
  return `${recoveryFolder}/${index}`
}

/** The account of a 33-byte compressed public key. */
export function accountOf(publicKey: Uint8Array, index: number): Account {
  return {
    index,
    address: addressFromPublicKey(publicKey),
    did: didFromPublicKey(publicKey, { method: didMethod }),
    publicKey,
  }
}

/** Opens the accounts of a secret. The slow step, deriving the seed, is done once. */
export function accountSource(secret: WalletSecret): (index: number) => SigningAccount {
  if (secret.kind === 'keys') {
    return (index) => {
      const privateKey = secret.privateKeys[index]
      if (privateKey === undefined) {
        throw new UserError(`this wallet has ${secret.privateKeys.length} imported keys; there is no account ${index}`)
      }
      const pair = keyPair(privateKey)
      return { ...accountOf(pair.publicKey, index), ...pair }
    }
  }
  const seed = seedOf(secret.mnemonic)
  if (seed === undefined) throw new UserError(`the mnemonic is not valid: ${mnemonicFault(secret.mnemonic)}`)
  return accountsBelow(seed)
}

/** The accounts of a mnemonic, by its BIP39 seed. */
export function accountsBelow(seed: Uint8Array): (index: number) => SigningAccount {
  const [keysOf, recoveryKeysOf] = [keyFolder, recoveryFolder].map((path) => childKeys(seed, path)) as [
    Children,
    Children,
  ]
  return (index) => {
    const pair = keyPair(present(keysOf(index), keyPath(index)))
    const recovery = keyPair(present(recoveryKeysOf(index), recoveryPath(index)))
    return { ...accountOf(pair.publicKey, index), ...pair, recovery }
  }
}

type Children = ReturnType<typeof childKeys>

/** The key pair at `path` below a BIP39 seed. A {@link UserError} for a path that has no key. */
export function derivedPair(seed: Uint8Array, path: string): KeyPair {
  return keyPair(present(keyFromSeed(seed, path), path))
}

function present(privateKey: Uint8Array | undefined, path: string): Uint8Array {
  if (privateKey === undefined) throw new UserError(`there is no key at ${path}`)
  return privateKey
}

function keyPair(privateKey: Uint8Array): KeyPair {
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}
