/** The entry `didledger-client/wallet`: keys, addresses, transactions and DID operations, without a node, a network or a clock. */

export type { Code } from '../../base/errors/error-codes.js'
export { RuleError, UserError } from '../../base/errors/rule-error.js'
export { deriveKey, generateMnemonic, isMnemonic, keyPath } from '../../base/crypto/hd.js'
export { generatePrivateKey, publicKeyOf, sign } from '../../base/crypto/keys.js'
export {
  formatPrivateKey,
  formatPublicKey,
  type Jwk,
  type KeyForm,
  type KeyInput,
  readPrivateKey,
  readPublicKey,
} from '../../base/crypto/key-forms.js'
export {
  type Account,
  accountSource,
  type KeyPair,
  recoveryPath,
  type SigningAccount,
  type WalletSecret,
} from '../../clients/wallet/accounts.js'
export {
  addressFromPublicKey,
  addressOf,
  didFromPublicKey,
  parseAddress,
  type ProgramHash,
  singleKeyCode,
} from '../../base/primitives/address.js'
export { formatAmount, parseAmount } from '../../base/primitives/amount.js'
export type { Spec } from '../../base/primitives/spec.js'
export { Transaction } from '../../base/primitives/transaction.js'
export { type DidOperation, type DidOperationJson, operationJson } from '../../base/primitives/did-operation.js'
export { readOperationJson } from '../../identity/did/operation.js'
export {
  buildDidTransaction,
  buildMerge,
  buildTransfer,
  payerOf,
  type Payment,
  type Recipient,
  type UnsignedTransaction,
} from '../../clients/wallet/build-transaction.js'
export {
  buildReplacement,
  type ReplacementOptions,
  type ReplacementPayment,
  type WaitingTransaction,
} from '../../clients/wallet/build-replacement.js'
export { ManyCoinsError, type SpendableCoin as Coin } from '../../clients/wallet/coins.js'
export { type TransactionBounds, transactionBounds } from '../../base/primitives/transaction-bounds.js'
export { parseCoins } from '../../clients/wallet/coins-file.js'
export {
  createIdentity,
  type CurrentIdentity,
  deactivateIdentity,
  type DocumentChanges,
  documentOf,
  type NewIdentity,
  type OperationContext,
  parseDid,
  rebaseUpdate,
  type RecoveryKey,
  updateIdentity,
} from '../../clients/wallet/did-identity.js'
export type { AddedAgreementKey, CoreChanges } from '../../clients/wallet/core-members.js'
export type { AddedKey, AuthorizedKey, KeyChanges } from '../../clients/wallet/document-keys.js'
export { buildDeclare, buildRevoke, type CredentialContext } from '../../clients/wallet/did-credential.js'
export {
  buildCredential,
  issueCredential,
  issueCredentialJwt,
  type NewCredential,
  type SignedBy,
} from '../../clients/wallet/issue-credential.js'
export { linkDomain, type NewPresentation, presentCredentials } from '../../clients/wallet/present-credentials.js'
export { type MultisigAccount, multisigAccount } from '../../clients/wallet/multisig.js'
export { addSignature, combineSignatures } from '../../clients/wallet/multisig-signatures.js'
export {
  isSigned,
  type SignedTransaction,
  signTransaction,
  unsignedAddresses,
} from '../../clients/wallet/sign-transaction.js'
export { type NodeChain, parseChain } from '../../clients/wallet/chain-answer.js'
export { type ChainRules, nodeTerms as chainTerms } from '../../clients/wallet/terms.js'
export {
  fileOf,
  parseTransactionFile,
  type SpentOutput,
  type TransactionFile,
  transactionFileJson,
} from '../../clients/wallet/transaction-file.js'
export { systemRandom } from '../../base/runtime/system-random.js'
