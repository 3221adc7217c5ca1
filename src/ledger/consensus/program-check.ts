import type { ProgramScript } from '../../base/primitives/program.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import type { Transaction } from '../../base/primitives/transaction.js'

/** The check of the signatures of a program. What names it is not made before it is asked for. */
export class ProgramCheck implements SignatureCheck {
  readonly message: Uint8Array
  readonly keys: readonly Uint8Array[]
  readonly signatures: readonly Uint8Array[]
  readonly code = 'tx-signature'
  readonly #tx: Transaction
  readonly #index: number

  constructor(tx: Transaction, index: number, { keys }: ProgramScript, signatures: readonly Uint8Array[]) {
    // Not from the transaction when it is asked for: that forgets it once it is connected.
    this.message = tx.unsigned
    this.keys = keys
    this.signatures = signatures
    this.#tx = tx
    this.#index = index
  }

  /** The bytes of a transaction hold all that is checked here. */
  get identity(): string {
    return `${this.#tx.digestKey}${this.#index}`
  }

  get subject(): string {
    return `program ${this.#index} of ${this.#tx.txid}`
  }
}
