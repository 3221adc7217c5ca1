import type { AnchorJson } from '../did/state-proof.js'
import { concat, equalBytes, pieces, toHex } from '../../base/primitives/bytes.js'
import type { Confirm } from '../../base/primitives/confirm.js'
import { defined } from '../../base/primitives/defined.js'
import { type Hash, sha256, sha256d } from '../../base/primitives/hash.js'
import { type Header, headerSize } from '../../base/primitives/header.js'
import { foldBranch } from '../../base/primitives/merkle.js'
import { coinbaseAttributes, commitmentsIn, maxAnchorCoinbase } from './anchor-coinbase.js'
import { longestConfirm, readConfirm, signaturesOf } from './anchor-confirm.js'
import { type Checking, requireSignatures } from './signature-checks.js'
import { commitmentTag } from './commitment.js'
import { didRoot as rootOf } from './map-tree.js'
import { fail } from './proof-failure.js'
import { base64, bytesOf, hashText, headerText, members } from './read-json.js'

/** The block that an answer is as of: from its validators or its work down to the root of the map in its coinbase. */

/** @limit count: hashes of the branch of a coinbase; a block has at most 10,000 transactions */
const maxBranch = 14
const hashSize = 32

/** An anchor whose texts are base64url; nothing is decoded. */
export interface Anchor extends Omit<AnchorJson, 'root' | 'cosignatures'> {
  readonly root?: Hash
  /** As they were sent: only a checker that knows witnesses reads them. */
  readonly cosignatures?: unknown
}

/** Trusted data of a chain, with which an anchor of it is checked. */
export interface KnownChain {
  /** Hash of the genesis block, internal order. */
  readonly genesis: Hash
  /** With validators: their keys in duty order, in force at a height; undefined if unknown. */
  readonly keysAt?: (height: number) => readonly Uint8Array[] | undefined
  /** Hash of a trusted block, such as a checkpoint: the validators who confirmed it need not be known. */
  readonly believed?: Hash
  /** Without: throws `work-chain` or `work-depth` for a header that is not deep enough in the chain with most work. */
  readonly requireWork?: (header: Header) => void
}

/** A block that commits to a root. */
export interface CommittedBlock {
  readonly header: Header
  /** Entry 02. */
  readonly didRoot: Hash
  /** Entry 03, on a chain with validators. */
  readonly nextKeys: Hash | undefined
}

/** A block that validators or work stand behind. */
export interface AnchoredBlock extends CommittedBlock {
  /** As it was sent. */
  readonly anchor: Anchor
  /** On a chain with validators. */
  readonly confirm?: Confirm
  /** Names of the witnesses whose cosignatures were verified. */
  readonly witnesses?: readonly string[]
}

/** Reads an anchor of a chain with or without validators; `form`. */
export function readAnchor(sent: unknown, hasValidators: boolean): Anchor {
  const { header, coinbase, branch, confirm, root, cosignatures } = members(sent, 'an anchor')
  return {
    header: base64(header),
    coinbase: base64(coinbase),
    branch: base64(branch),
    ...(hasValidators && { confirm: base64(confirm) }),
    ...(root !== undefined && { root: hashText(root) }),
    ...(cosignatures !== undefined && { cosignatures }),
  }
}

/** An anchor as it is sent, without cosignatures. */
export function anchorJson({ header, coinbase, branch, confirm, root }: Anchor): AnchorJson {
  return { header, coinbase, branch, ...defined({ confirm, root: root && toHex(root) }) }
}

/** The header of an anchor, of a block above genesis. */
export function headerOf({ header: sent }: Anchor): Header {
  const header = headerText(sent) ?? fail('anchor-header', `${headerSize} bytes are needed`)
  return header.height > 0 ? header : fail('anchor-header', 'genesis commits to nothing')
}

/** Returns the commitments of an anchor's block: its coinbase is the first transaction of the header. */
export function committedBlock(anchor: Anchor, header: Header, hasValidators: boolean): CommittedBlock {
  const coinbase = bytesOf(anchor.coinbase, maxAnchorCoinbase)
  if (coinbase === undefined) return fail('anchor-coinbase', `more than ${maxAnchorCoinbase} bytes`)
  const attributes = coinbaseAttributes(coinbase, header.height)
  const branch = bytesOf(anchor.branch, maxBranch * hashSize)
  if (branch === undefined || branch.length % hashSize !== 0) {
    return fail('anchor-branch', `not at most ${maxBranch} hashes`)
  }
  if (!equalBytes(foldBranch(sha256d(coinbase), pieces(branch, hashSize), 0), header.merkleRoot)) {
    fail('anchor-branch', 'it leads to another merkle root')
  }
  const entries = commitmentsIn(attributes, { hasValidators, height: header.height })
  const nextKeys = entries.get(commitmentTag.nextValidators)
  return { header, didRoot: entries.get(commitmentTag.didRoot) as Hash, nextKeys }
}

/** Requires a quorum of the validators for the block of an anchor, and returns their confirm. */
export function* confirmedBy(anchor: Anchor, header: Header, keys: readonly Uint8Array[]): Checking<Confirm> {
  const bytes = bytesOf(anchor.confirm ?? '', longestConfirm(keys.length))
  if (bytes === undefined) return fail('confirm-form', `too long for ${keys.length} validators`)
  const confirm = readConfirm(bytes, header, keys)
  yield* requireSignatures(signaturesOf(confirm), 'confirm-signature', 'not all of them verify')
  return confirm
}

/** sha256 of keys in their order: entry 03. */
export function keysHash(keys: readonly Uint8Array[]): Hash {
  return sha256(concat(...keys))
}

/** Requires the map root that an anchor names, if it names one. */
export function requireRoot({ root }: Anchor, { didRoot }: CommittedBlock, genesis: Hash): void {
  if (root === undefined || equalBytes(rootOf(genesis, root), didRoot)) return
  fail('anchor-root', 'the block commits to another root')
}

/** Requires validators or work behind the block of an anchor. */
export function* standingBlock(anchor: Anchor, block: CommittedBlock, chain: KnownChain): Checking<AnchoredBlock> {
  const { keysAt, requireWork, genesis, believed } = chain
  const { header } = block
  requireWork?.(header)
  let confirm: Confirm | undefined
  if (keysAt !== undefined) {
    const keys = keysAt(header.height)
    const isBelieved = believed !== undefined && equalBytes(believed, header.hash)
    if (keys !== undefined) confirm = yield* confirmedBy(anchor, header, keys)
    else if (!isBelieved) fail('changes-missing', `the validators of height ${header.height}`)
    const next = keysAt(header.height + 1) ?? []
    if (!equalBytes(block.nextKeys as Hash, keysHash(next))) fail('changes-missing', 'other validators follow it')
  }
  requireRoot(anchor, block, genesis)
  return { ...block, anchor, ...defined({ confirm }) }
}
