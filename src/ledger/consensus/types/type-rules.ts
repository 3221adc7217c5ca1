import type { ParsedOperation } from '../../../identity/did/operations/operation-row.js'
import type { AppliedOperation } from '../../../identity/did/state.js'
import type { Payload } from '../../../base/primitives/payload.js'
import type { SignatureCheck } from '../../../base/primitives/signature.js'
import type { Params } from '../../../base/primitives/spec.js'
import type { Steps } from '../../../base/primitives/steps.js'
import type { ProvedSideBlock, StateView } from '../ledger.js'
import type { ConnectContext } from '../rule-context.js'

/** A payload, with the id of its transaction in display hex. */
export interface Carried<P extends Payload> {
  readonly payload: P
  readonly txid: string
}

/** Rules of one transaction type beside those of all, in the order of the calls. Pure. */
export interface TypeRules<P extends Payload> {
  /** Whether an ordinary transaction may have the type; else `tx-type`. */
  readonly accepted: boolean
  /** Signature checks that the type alone costs; credentials in a DID document come on top. */
  readonly cost: number
  /** Checks what follows from the bytes of the payload. */
  sanity?(payload: P): void
  /** Signatures in the payload that are checked without state, with the keys that each is tried with. */
  checks?(carried: Carried<P>, params: Params): SignatureCheck[]
  /** Parses what needs no state. The result goes to `apply`, which may run more than once. */
  parse?(payload: P, context: ConnectContext): Steps<ParsedOperation>
  /** Finds the change of state beyond coins. */
  apply?(
    carried: Carried<P>,
    parsed: ParsedOperation,
    state: StateView,
    context: ConnectContext,
  ): Steps<AppliedOperation>
  /** Finds the block of a side chain that it proves; undefined where one as late is proved and the spec allows that. */
  prove?(payload: P, state: StateView, context: ConnectContext): ProvedSideBlock | undefined
}
