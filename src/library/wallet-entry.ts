import type { Random } from '../runtime/env.js'

/** The entry `didledger/wallet`: keys, addresses, transactions and DID operations, without a node, a network or a clock. */

export type { Code } from '../errors/error-codes.js'
export { codes } from './codes.js'
export { RuleError, UserError } from '../errors/rule-error.js'
export { deriveKey, generateMnemonic, isMnemonic, keyPath } from '../crypto/hd.js'
export { generatePrivateKey, publicKeyOf, sign } from '../crypto/keys.js'
export {
  type Account,
  accountSource,
  type KeyPair,
  recoveryPath,
  type SigningAccount,
  type WalletSecret,
} from '../wallet/accounts.js'
export {
  addressFromPublicKey,
  addressOf,
  didFromPublicKey,
  parseAddress,
  type ProgramHash,
  singleKeyCode,
} from '../primitives/address.js'
export { formatAmount, parseAmount } from '../primitives/amount.js'
export { parseSpec, type Spec } from '../primitives/spec.js'
export { Transaction } from '../primitives/transaction.js'
export { type DidOperation, type DidOperationJson, operationJson } from '../primitives/did-operation.js'
export { readOperationJson } from '../did/operation.js'
export {
  buildDidTransaction,
  buildTransfer,
  payerOf,
  type Payment,
  type Recipient,
  type UnsignedTransaction,
} from '../wallet/build-transaction.js'
export type { SpendableCoin as Coin } from '../wallet/coins.js'
export { parseCoins } from '../wallet/coins-file.js'
export {
  createIdentity,
  type CurrentIdentity,
  deactivateIdentity,
  type DocumentChanges,
  documentOf,
  type OperationContext,
  parseDid,
  rebaseUpdate,
  type RecoveryKey,
  updateIdentity,
} from '../wallet/did-identity.js'
export { buildDeclare, buildRevoke, type CredentialContext } from '../wallet/did-credential.js'
export { type MultisigAccount, multisigAccount } from '../wallet/multisig.js'
export { addSignature, combineSignatures } from '../wallet/multisig-signatures.js'
export { isSigned, type SignedTransaction, signTransaction, unsignedAddresses } from '../wallet/sign-transaction.js'
export { chainTerms } from '../wallet/terms.js'
export {
  fileOf,
  parseTransactionFile,
  type SpentOutput,
  type TransactionFile,
  transactionFileJson,
} from '../wallet/transaction-file.js'

/** Unpredictable bytes of this machine, for mnemonics, keys and nonces. */
export const systemRandom: Random = {
  bytes: (length) => globalThis.crypto.getRandomValues(new Uint8Array(length)),
}
