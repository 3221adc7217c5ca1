import type { Code } from './error-codes.js'

/**
 * A broken rule. `code` decides what happens, `detail` describes the fault and its place; `brokenRule` takes the code alone. No table is
 * needed here: programs that resolve in a browser load this file without one. An I/O failure is an ordinary exception, and a broken
 * invariant an {@link InvariantError}.
 */
export class RuleError extends Error {
  override readonly name = 'RuleError'
  readonly code: Code
  /** Display hex of the txid that breaks the rule inside a block; undefined where no single transaction does. */
  readonly transaction: string | undefined

  constructor(code: Code, detail: string, { transaction }: { readonly transaction?: string } = {}) {
    super(detail)
    this.code = code
    this.transaction = transaction
  }
}

/** Contradiction in the own state. Nothing may continue after this: the node stops. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Mistake of a user: shown without a stack trace, exit code 1 (a failed action) or 2 (a wrong call). */
export class UserError extends Error {
  override readonly name = 'UserError'
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
