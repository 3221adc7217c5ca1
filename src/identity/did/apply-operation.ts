/**
 * Decides what an operation does to its DID; the room also reads documents and credentials, and has their canonical text.
 *
 *   DidOperation of a transaction -> parseOperationSteps          operation.ts: kind, signer, document
 *     -> operationSteps(previous DidState, operation, DidContext)
 *        operations/<kind>.ts                                    state before, rights of the signer
 *        operations/document-operation.ts                        issuers of new credentials
 *     -> AppliedOperation: next DidState, signature checks, cost, documents read
 *
 * Imports errors, primitives; used by identifiers, credentials, proofs, verifier, light, witness, consensus, mempool, storage, state, mirror, prover, events, resolver, wallet, registrar, watch, devnet, client, api, library, gateway, cli,
 * explorer, heads.
 * - Deactivated is final; an update names the last operation of its DID.
 * - A document is counted before it is read, so that the caller can limit a block.
 * - Pure: no clock (by the block before a controller has expired or not; other expiry is left to the resolver), no verification, no rows.
 */
import { finish, type Steps } from '../../base/primitives/steps.js'
import { operationRow } from './operations/all-operations.js'
import { DocumentReads } from './operations/document-reads.js'
import type { ParsedOperation } from './operations/operation-row.js'
import type { AppliedOperation, DidContext, DidState } from './state.js'

/**
 * The DID state machine: applies `operation` to `previous`, the state of its DID before (undefined: none). Pure; it
 * reads no clock and verifies nothing. Throws a {@link RuleError} with a code for every refusal.
 */
export function applyOperation(
  previous: DidState | undefined,
  operation: ParsedOperation,
  context: DidContext,
): AppliedOperation {
  return finish(operationSteps(previous, operation, context))
}

/** {@link applyOperation} in steps: one for each document that is read. */
export function operationSteps(
  previous: DidState | undefined,
  operation: ParsedOperation,
  context: DidContext,
): Steps<AppliedOperation> {
  return operationRow(operation.kind).apply(previous, operation, new DocumentReads(context))
}
