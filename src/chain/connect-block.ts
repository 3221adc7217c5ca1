import { BlockConnector, type ConnectedBlock } from '../consensus/connect.js'
import type { SanityContext } from '../consensus/rule-context.js'
import type { SignatureCache } from '../crypto/signature-cache.js'
import { RunningChecks, type Verifier } from '../crypto/verifier.js'
import type { Block } from '../primitives/block.js'
import type { SignatureCheck } from '../primitives/signature.js'
import type { Transaction } from '../primitives/transaction.js'
import { runCooperatively } from '../runtime/cooperative.js'
import type { Overlay } from '../storage/overlay.js'
import type { KnownDocuments } from '../storage/known-documents.js'
import { keys } from '../storage/schema.js'
import { loadCoins, putConnected, StoredState } from '../storage/stored-state.js'
import { heldBlock, type HeldBlock } from './chain-change.js'

/** Context for connecting a block. */
export interface Connecting {
  readonly sanity: SanityContext
  readonly verifier: Verifier
  readonly signatures: SignatureCache
  readonly documents: KnownDocuments
}

/**
 * Connects a block, verifies its signatures unless they are `assumed` valid, and stages its rows. `knownHeight`: how far the
 * chain is known to go on.
 */
export async function connectInto(
  overlay: Overlay,
  block: Block,
  { sanity, verifier, signatures, documents }: Connecting,
  { assumed = false, knownHeight = block.header.height } = {},
): Promise<HeldBlock> {
  // Other threads verify in parallel; the overlay only gathers rows, and is dropped if a signature fails.
  const running = new RunningChecks(verifier)
  const verify = (checks: readonly SignatureCheck[], tx: Transaction) => running.add(signatures.unknown(checks), tx)
  const connected = await connectOn(overlay, block, { sanity, documents }, assumed ? undefined : verify)
  await Promise.all([running.finish(), putConnected(overlay, block, connected, { knownHeight })])
  overlay.put(keys.active(block.header.height), block.header.hash)
  return heldBlock(block, {
    dids: [...connected.state.dids.keys()],
    credentials: [...connected.state.credentialIds],
  })
}

/** Connects a block on an overlay; `verify` gets the signature checks of each transaction as they are found. */
export async function connectOn(
  overlay: Overlay,
  block: Block,
  { sanity, documents }: Pick<Connecting, 'sanity' | 'documents'>,
  verify?: (checks: readonly SignatureCheck[], transaction: Transaction) => void,
): Promise<ConnectedBlock> {
  await loadCoins(overlay, block)
  const connector = new BlockConnector(block, new StoredState(overlay, documents), sanity)
  let next = 1
  await runCooperatively(connector.steps(({ checks }) => verify?.(checks, block.transactions[next++] as Transaction)))
  return connector.finish()
}
