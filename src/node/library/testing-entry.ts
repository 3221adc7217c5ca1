/** The entry `didledger/testing`: a devnet of its own for each test, in the process of the test. */
export type { Code } from '../../base/errors/error-codes.js'
export { RuleError, UserError } from '../../base/errors/rule-error.js'
export type { SigningAccount } from '../../clients/wallet/accounts.js'
export type * from './node-types.js'
export {
  devnet,
  type TestDevnet,
  type TestDevnetNode,
  type TestDevnetOptions,
  type TestSnapshot,
} from './test-devnet.js'
