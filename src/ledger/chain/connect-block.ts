import { checkCoinRoot, checkDidRoot } from '../consensus/commitment.js'
import { BlockConnector, type BlockTransaction, type ConnectedBlock, transactionsAtOnce } from '../consensus/connect.js'
import type { SignatureCache } from '../../base/crypto/signature-cache.js'
import { RunningChecks, type Verifier } from '../../base/crypto/verifier.js'
import type { Block } from '../../base/primitives/block.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import { coinStateOf } from '../../base/primitives/spec.js'
import { eachSteps } from '../../base/primitives/steps.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { didRoot } from '../../identity/proofs/map-tree.js'
import { runCooperatively, Yielder } from '../../base/runtime/cooperative.js'
import { loadCoins, loadDids } from '../storage/write/load-block.js'
import type { Overlay } from '../storage/write/overlay.js'
import type { KnownDocuments } from '../storage/write/known-documents.js'
import { hasMap, type MapMemory, mapChangeOf, putMapChange } from '../storage/rows/map/map-rows.js'
import { blockTime } from '../storage/rows/header-rows.js'
import { tables } from '../storage/rows/tables.js'
import { putConnected, StoredState } from '../storage/stored-state.js'
import { heldBlock, type HeldBlock } from './chain-change.js'
import type { CommitmentContext } from './check-map.js'
import type { CoinRoots, CoinState } from './coin-roots.js'

/** Operations whose documents are noted in one step. */
const operationsAtOnce = 16

/** Context for connecting a block. */
export interface Connecting extends CommitmentContext {
  readonly verifier: Verifier
  readonly signatures: SignatureCache
  readonly documents: KnownDocuments
  readonly mapMemory: MapMemory
  readonly coinRoots: CoinRoots
  /** Whether every state of the map of DIDs is kept for proofs. */
  readonly archiveProofs?: boolean
}

/** How a block is connected. */
export interface ConnectOptions {
  /** Signatures are assumed valid; everything else is checked. */
  readonly assumed?: boolean
  /** Height up to which the chain is known. */
  readonly knownHeight?: number
}

/** A block whose rows are staged, while its signatures may still be verified. */
export interface StagedBlock {
  readonly event: HeldBlock
  /** Resolves when the signatures hold and the roots are right; rejects with the RuleError of what is not so. */
  readonly verified: Promise<void>
}

/** Connects a block, verifies its signatures, and stages its rows. */
export async function connectInto(
  overlay: Overlay,
  block: Block,
  connecting: Connecting,
  options: ConnectOptions = {},
): Promise<HeldBlock> {
  const { event, verified } = await stageBlock(overlay, block, connecting, options)
  await verified
  return event
}

/** {@link connectInto} that does not wait for the signatures. The overlay is to be dropped if they do not hold. */
export async function stageBlock(
  overlay: Overlay,
  block: Block,
  connecting: Connecting,
  { assumed = false, knownHeight = block.header.height }: ConnectOptions = {},
): Promise<StagedBlock> {
  const { sanity, verifier, signatures, documents } = connecting
  // Other threads verify in parallel; the overlay only gathers rows.
  const running = new RunningChecks(verifier)
  const verify = (checks: readonly SignatureCheck[], tx: Transaction) => running.add(signatures.unknown(checks), tx)
  const connected = await connectOn(overlay, block, { sanity, documents }, assumed ? undefined : verify)
  const verifying = running.finish()
  // Reported by `verified`, which is never made if staging the rows fails.
  verifying.catch(() => {})
  const learn = ({ did }: BlockTransaction) => {
    if (did?.document !== undefined) documents.learn(did.state)
  }
  await runCooperatively(eachSteps(connected.transactions, learn, operationsAtOnce))
  const root = await putRows(overlay, block, connected, { knownHeight, ...connecting })
  overlay.put(tables.active.key(block.header.height), block.header.hash)
  const { header, transactions } = block
  const coins = coinsOf(overlay, header.height, connecting)
  coins?.catch(() => {})
  const verified = verifying.then(async () => {
    const coinbase = transactions[0] as Transaction
    if (root !== undefined) checkDidRoot(sanity.spec, header.height, coinbase, didRoot(connecting.genesis, root))
    if (coins !== undefined) checkCoinRoot(coinbase, (await coins).root)
  })
  verified.catch(() => {})
  const { dids, credentialIds } = connected.state
  return { event: heldBlock(block, { dids: [...dids.keys()], credentials: [...credentialIds] }), verified }
}

/** The coins that the block at a height commits to, on the branch of an overlay; undefined: it commits to none. */
function coinsOf(overlay: Overlay, height: number, { sanity, coinRoots }: Connecting): Promise<CoinState> | undefined {
  const state = coinStateOf(sanity.spec, height)
  const hash = state === undefined ? undefined : overlay.get(tables.active.key(state))
  return state === undefined || hash === undefined ? undefined : coinRoots.of({ hash, height: state })
}

/** Stages the rows of a connected block; resolves with the root of the map after it, undefined where there is no map. */
async function putRows(
  overlay: Overlay,
  block: Block,
  connected: ConnectedBlock,
  { knownHeight, documents, mapMemory, archiveProofs: archive = false }: Connecting & { readonly knownHeight: number },
): Promise<Hash | undefined> {
  const leaves = await putConnected(overlay, block, connected, { depth: { knownHeight }, documents })
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
  const onTheWay = [await loadCoins(overlay, block), await loadDids(overlay, block)]
  // Each operation on a DID asks: the header is read once.
  let parentTime: number | undefined
  const time = () => (parentTime ??= blockTime(overlay, block.header.previous))
  const connector = new BlockConnector(block, new StoredState(overlay, { time, documents }), sanity)
  let next = 1
  const steps = connector.steps(({ checks }) => verify?.(checks, block.transactions[next++] as Transaction))
  const yielder = new Yielder()
  do {
    // Signatures of the first transactions are verified while rows of the last are read.
    const last = next + transactionsAtOnce
    for (const rows of onTheWay) {
      for (let loading = rows.before(last); loading !== undefined; loading = rows.before(last)) await loading
    }
    if (yielder.over) await yielder.next()
  } while (steps.next().done !== true)
  return connector.finish()
}
