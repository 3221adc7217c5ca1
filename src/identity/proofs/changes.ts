import { equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { type Anchor, committedBlock, confirmedBy, headerOf, keysHash, readAnchor, requireRoot } from './anchor.js'
import type { Checking } from './signature-checks.js'
import { fail } from './proof-failure.js'
import { displayHashText, flag, list, members, requireFormat, whole } from './read-json.js'
import type { Checkpoint } from './trust-root.js'
import { keyTexts, type ValidatorList, validatorKeys } from './validator-list.js'

/** How validators hand a chain on: each list is named by a block that the list before it confirmed. */

export const changesFormat = 'didledger/changes/1'

/** @limit count: changes of validators in one answer */
export const maxChanges = 100

/** A change as it was sent: the validators from a height on, and the block before. */
export interface Change {
  readonly height: number
  /** Hex. */
  readonly validators: readonly string[]
  readonly anchor: Anchor
}

/** Changes as they were sent. */
export interface Changes {
  readonly changes: readonly Change[]
  /** Whether there are later ones. */
  readonly more: boolean
}

/** Reads a change; `form`. */
export function readChange(sent: unknown): Change {
  const { height, validators, anchor } = members(sent, 'a change of validators')
  return { height: whole(height), validators: keyTexts(validators), anchor: readAnchor(anchor, true) }
}

/** Reads changes of a chain; `form`, `chain`, and `changes-order` unless their heights ascend. */
export function readChanges(sent: unknown, genesis: Hash): Changes {
  const { format, chain, tip, changes, more } = members(sent, 'an answer with changes')
  requireFormat(format, changesFormat)
  whole(tip)
  const found = { changes: list(changes, maxChanges).map(readChange), more: flag(more) }
  if (!equalBytes(displayHashText(chain), genesis)) fail('chain', 'it is of another chain')
  requireAscending(found.changes)
  return found
}

export function requireAscending(changes: readonly Change[]): void {
  const descent = changes.find(({ height }, i) => i > 0 && height <= (changes[i - 1] as Change).height)
  if (descent !== undefined) fail('changes-order', `height ${descent.height} after one as high`)
}

/** Checks that validators name those of a change, and returns these. */
export function* checkChange(change: Change, before: ValidatorList, genesis: Hash): Checking<ValidatorList> {
  const { height, anchor } = change
  const header = headerOf(anchor)
  if (height <= before.height) fail('changes-order', `height ${height} after ${before.height}`)
  if (height !== header.height + 1) fail('changes-order', `height ${height}, named by block ${header.height}`)
  const block = committedBlock(anchor, header, true)
  yield* confirmedBy(anchor, header, before.keys)
  requireRoot(anchor, block, genesis)
  const keys = validatorKeys(change.validators, 'changes-keys')
  if (!equalBytes(keysHash(keys), block.nextKeys as Hash)) fail('changes-keys', 'the block names others')
  return { height, keys }
}

/** The validators after a trusted checkpoint, and its header. No signature is checked. */
export function checkpointList(
  { anchor, validators }: Change,
  checkpoint: Checkpoint,
): { readonly list: ValidatorList; readonly header: Header } {
  const header = headerOf(anchor)
  if (header.height !== checkpoint.height || !equalBytes(header.hash, checkpoint.hash)) {
    fail('checkpoint-hash', `block ${header.height} is another`)
  }
  const { nextKeys } = committedBlock(anchor, header, true)
  return { header, list: namedByCheckpoint(validators, checkpoint, nextKeys) }
}

/** The validators of texts, if a checkpoint names them; `checkpoint-keys`. */
export function namedByCheckpoint(
  texts: readonly string[],
  { height, keysHash: named }: Checkpoint,
  committed = named,
): ValidatorList {
  const keys = validatorKeys(texts, 'checkpoint-keys')
  const isNamed = [named, committed].every((hash) => hash !== undefined && equalBytes(hash, keysHash(keys)))
  return isNamed ? { height: height + 1, keys } : fail('checkpoint-keys', 'the checkpoint names other validators')
}
