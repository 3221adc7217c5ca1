/**
 * Makes blocks: this file puts a template together, the room finds its work and hands it to the chain or to the vote.
 *
 *   pool -> selectTransactions -> choose (selection.ts)    best fee rate, within the limits of a block
 *        -> templateOf -> buildCoinbase                    subsidy and fees to one address, commitment
 *        -> solve | AuxWork (outside miner) -> block with work
 *             Producer        one block at a time          -> chain.acceptBlock or OwnValidator.offer
 *             ProposalSource  the block of a proposer      -> chain.prepare -> voting
 *
 * Imports chain, consensus, errors, mempool, primitives, proofs, runtime; used by voting, network, devnet, api, node.
 * - A template stands on one tip: if the tip moved meanwhile, the block is dropped.
 * - Signatures of selected transactions are verified before the work begins.
 * - The room signs no confirm, and passes blocks to the chain as bytes alone.
 */
import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import { coinRootOf, nextDidRoot } from '../chain/next-commitments.js'
import { commitmentAttribute } from '../consensus/commitment.js'
import { earliestTime, requiredBits } from '../consensus/context.js'
import { subsidyAt } from '../consensus/subsidy.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Mempool } from '../mempool/mempool.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { soloAuxPow } from '../../base/primitives/auxpow.js'
import { Block } from '../../base/primitives/block.js'
import { fromUtf8 } from '../../base/primitives/bytes.js'
import { type Hash, zeroHash } from '../../base/primitives/hash.js'
import { Header } from '../../base/primitives/header.js'
import { firstBranchSteps, foldBranch } from '../../base/primitives/merkle.js'
import { coinbaseInput } from '../../base/primitives/input.js'
import { attributeUsage, Transaction } from '../../base/primitives/transaction.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import { choose, type Chosen, type Extent } from './selection.js'

/** Transactions of the next block from the pool: the part of a template that does not depend on the payee. */
export interface Selection extends Chosen {
  /** The tip on which the block is to be built. */
  readonly parent: KnownHeader
  readonly bits: number
  /** Unix seconds. What the coinbase commits to depends on it. */
  readonly time: number
  /** Root of the state of all DIDs after the block; undefined if the chain commits to none. */
  readonly didRoot: Hash | undefined
  /** Root of the coins of an earlier state; undefined where the block commits to none. */
  readonly coinRoot: Hash | undefined
  /** Merkle branch from the coinbase to the root in the header. */
  readonly branch: readonly Hash[]
}

/** Parent and content of a template; the parent may be a block that is not on the chain yet. */
export interface TemplateContent extends Omit<Selection, 'parent' | 'operations'> {
  readonly parent: Pick<KnownHeader, 'header'>
}

export interface TemplateRequest {
  /** Receives subsidy and fees. */
  readonly payTo: ProgramHash
  /** 8 bytes that make the coinbase unique. */
  readonly nonce: Uint8Array
}

export interface SelectionRequest extends Extent {
  /** Unix seconds; raised to the earliest time the rules allow. */
  readonly time: number
}

/**
 * Selects the best of the pool within an extent, as cooperative work; the transactions connect on the tip, signatures included.
 * Tip moves -> ends early with a result that may mix two states: callers compare the tip.
 */
export async function selectTransactions(
  chain: Chain,
  pool: Mempool,
  { time, ...extent }: SelectionRequest,
): Promise<Selection> {
  const place = nextPlace(chain, time)
  return selectionOf(chain, place, await choose(chain, pool, { ...extent, parent: place.parent }))
}

/** Place of a block: its parent, and what that demands of its header. */
export type BlockPlace = Pick<Selection, 'parent' | 'bits' | 'time'>

/** The place on the tip, at a time in Unix seconds or the earliest after it that the rules allow. */
export function nextPlace({ tip: parent, headers, spec }: Chain, time: number): BlockPlace {
  const ancestry = headers.ancestry(parent)
  return { parent, bits: requiredBits(spec, ancestry), time: Math.max(time, earliestTime(spec, ancestry)) }
}

/**
 * Adds to chosen transactions, which are not checked again, what a block with them commits to. Tip moves -> a result that may mix two
 * states.
 */
export async function selectionOf(
  chain: Chain,
  place: BlockPlace,
  { transactions, fees, witnessRoot, operations }: Chosen,
): Promise<Selection> {
  const { parent, time } = place
  const unlessMoved = (error: unknown) => {
    if (chain.tip === parent) throw error
    return zeroHash
  }
  const didRoot = await nextDidRoot(chain, time, operations).catch(unlessMoved)
  const coinRoot = await coinRootOf(chain, parent.header.height + 1).catch(unlessMoved)
  const branch = await runCooperatively(firstBranchSteps(transactions.map(({ hash }) => hash)))
  return { ...place, transactions, fees, witnessRoot, operations, didRoot, coinRoot, branch }
}

/** A block of the selection with a coinbase for one address, without work. */
export function templateOf(chain: Chain, content: TemplateContent, request: TemplateRequest): Block {
  const { parent, bits, time, transactions, branch } = content
  if (time > 0xffffffff) throw new RuleError('block-time-future', 'block times end in the year 2106')
  const coinbase = buildCoinbase(chain, content, request)
  const header = new Header({
    version: 0,
    previous: parent.header.hash,
    merkleRoot: foldBranch(coinbase.hash, branch, 0),
    time,
    bits,
    nonce: 0,
    height: parent.header.height + 1,
  })
  return new Block(header, soloAuxPow(header.hash, header.time), [coinbase, ...transactions])
}

function buildCoinbase(
  chain: Chain,
  { parent, fees, ...committed }: TemplateContent,
  { payTo, nonce }: TemplateRequest,
): Transaction {
  const { spec, assetId } = chain.sanity
  const height = parent.header.height + 1
  const attributes = [{ usage: attributeUsage.nonce, data: nonce }, commitmentAttribute(spec, height, committed)]
  return new Transaction({
    version: 0,
    payloadVersion: 4,
    payload: { type: 0, data: fromUtf8('didledger') },
    attributes,
    inputs: [coinbaseInput],
    outputs: [{ assetId, value: subsidyAt(spec, height) + fees, outputLock: 0, programHash: payTo }],
    lockTime: height,
    programs: [],
  })
}
