import { checkDidRoot } from '../consensus/commitment.js'
import { BlockConnector, type ConnectedBlock } from '../consensus/connect.js'
import type { SignatureCache } from '../crypto/signature-cache.js'
import { RunningChecks, type Verifier } from '../crypto/verifier.js'
import type { Block } from '../primitives/block.js'
import type { Hash } from '../primitives/hash.js'
import type { SignatureCheck } from '../primitives/signature.js'
import type { Transaction } from '../primitives/transaction.js'
import { didRoot } from '../proofs/map-tree.js'
import { runCooperatively } from '../runtime/cooperative.js'
import type { Overlay } from '../storage/overlay.js'
import type { KnownDocuments } from '../storage/known-documents.js'
import { hasMap, type MapMemory, mapChangeOf, putMapChange } from '../storage/map/map-rows.js'
import { keys } from '../storage/schema.js'
import { loadCoins, putConnected, StoredState } from '../storage/stored-state.js'
import { heldBlock, type HeldBlock } from './chain-change.js'
import type { CommitmentContext } from './check-map.js'

/** Context for connecting a block. */
export interface Connecting extends CommitmentContext {
  readonly verifier: Verifier
  readonly signatures: SignatureCache
  readonly documents: KnownDocuments
  readonly mapMemory: MapMemory
  /** Whether every state of the map of DIDs is kept for proofs. */
  readonly archiveProofs?: boolean
}

/**
 * Connects a block, verifies its signatures unless they are `assumed` valid, and stages its rows. `knownHeight`: how far the
 * chain is known to go on.
 */
export async function connectInto(
  overlay: Overlay,
  block: Block,
  connecting: Connecting,
  { assumed = false, knownHeight = block.header.height } = {},
): Promise<HeldBlock> {
  const { sanity, verifier, signatures, documents } = connecting
  // Other threads verify in parallel; the overlay only gathers rows, and is dropped if a signature fails.
  const running = new RunningChecks(verifier)
  const verify = (checks: readonly SignatureCheck[], tx: Transaction) => running.add(signatures.unknown(checks), tx)
  const connected = await connectOn(overlay, block, { sanity, documents }, assumed ? undefined : verify)
  const [, root] = await Promise.all([
    running.finish(),
    putRows(overlay, block, connected, { knownHeight, ...connecting }),
  ])
  if (root !== undefined) {
    const { header, transactions } = block
    checkDidRoot(sanity.spec, header.height, transactions[0] as Transaction, didRoot(connecting.genesis, root))
  }
  overlay.put(keys.active(block.header.height), block.header.hash)
  return heldBlock(block, {
    dids: [...connected.state.dids.keys()],
    credentials: [...connected.state.credentialIds],
  })
}

/** Stages the rows of a connected block; resolves with the root of the map after it, undefined where there is no map. */
async function putRows(
  overlay: Overlay,
  block: Block,
  connected: ConnectedBlock,
  { knownHeight, mapMemory, archiveProofs: archive = false }: Connecting & { readonly knownHeight: number },
): Promise<Hash | undefined> {
  const leaves = await putConnected(overlay, block, connected, { knownHeight })
  if (!hasMap(overlay)) return undefined
  const change = await mapChangeOf(overlay, await runCooperatively(leaves.listSteps()), mapMemory)
  await putMapChange(overlay, block.header.height, change, { knownHeight, archive })
  return change.root
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
