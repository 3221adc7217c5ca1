import type { AnchorJson } from '../../identity/did/state-proof.js'
import {
  type Anchor,
  type AnchoredBlock,
  committedBlock,
  headerOf,
  type KnownChain,
  readAnchor,
  standingBlock,
} from '../../identity/proofs/anchor.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Header } from '../../base/primitives/header.js'
import { fail } from '../../identity/proofs/proof-failure.js'
import { list, members, requireFormat, whole } from '../../identity/proofs/read-json.js'
import type { Checking } from '../../identity/proofs/signature-checks.js'
import { readNote, type SignedNote } from '../../identity/proofs/witness-note.js'

/** Heads that witnesses show, and heads with cosignatures that nodes show. */

export const witnessFormat = 'didledger/witness/1'
export const witnessedFormat = 'didledger/witnessed/1'

/** @limit count: heads in one answer of a witness, or of a node about its witnesses */
export const maxHeads = 16

/** A cosigned head as a witness shows it. */
export interface ShownHead {
  /** The text of the head and its cosignature. */
  readonly note: string
  /** The block, with the root of the map: a confirm names no chain, the root does. */
  readonly anchor: AnchorJson
}

/** The same, read: nothing of it is proved. */
export interface CosignedHead {
  readonly text: string
  readonly note: SignedNote
  readonly anchor: Anchor
  readonly header: Header
}

/** Reads the heads that a witness shows; `form`. */
export function readWitnessHeads(sent: unknown, hasValidators: boolean): readonly CosignedHead[] {
  const { format, heads } = members(sent, 'an answer of a witness')
  requireFormat(format, witnessFormat)
  return list(heads, maxHeads).map((one) => readWitnessHead(one, hasValidators))
}

/** Reads one head, whose note is about the header beside it; `form`. */
export function readWitnessHead(sent: unknown, hasValidators: boolean): CosignedHead {
  const { note: text, anchor: sentAnchor } = members(sent, 'a cosigned head')
  const note = readNote(text)
  const anchor = readAnchor(sentAnchor, hasValidators)
  const header = headerOf(anchor)
  if (header.height !== note.height || !equalBytes(header.hash, note.hash)) fail('form', 'a note of another block')
  return { text: text as string, note, anchor, header }
}

/** Requires validators, or work, for a block that is shown by itself: its root has to name the chain. */
export function* boundBlock(anchor: Anchor, known: KnownChain): Checking<AnchoredBlock> {
  if (anchor.root === undefined) fail('anchor-root', 'the block does not say of which chain it is')
  const committed = committedBlock(anchor, headerOf(anchor), known.keysAt !== undefined)
  return yield* standingBlock(anchor, committed, known)
}

/** A height with the cosignatures that a node has of it; nothing is checked. */
export interface WitnessedHeight {
  readonly height: number
  readonly cosignatures: readonly unknown[]
}

/** Reads the heights of which a node has cosignatures; `form`. */
export function readWitnessed(sent: unknown, maxCosignatures: number): readonly WitnessedHeight[] {
  const { format, heads } = members(sent, 'an answer with cosigned heads')
  requireFormat(format, witnessedFormat)
  return list(heads, maxHeads).map((one) => {
    const { height, cosignatures } = members(one, 'a cosigned head')
    return { height: whole(height), cosignatures: list(cosignatures, maxCosignatures) }
  })
}
