import type { AnchorJson } from '../did/state-proof.js'
import { named } from './mirror-page.js'

/** Files of a mirror beside pages and leaves: the head, headers, anchors, changes of validators (format 11). */

export const mirrorFormat = 'didledger/mirror/1'
/** Format of the file of cosigned heads. */
export const mirrorCosignedFormat = 'didledger/mirror-cosigned/1'
/** Format of the file that says whose mirror it is. */
export const mirrorAboutFormat = 'didledger/about/1'

/** Headers in a file of headers. */
export const headersInFile = 256
/** Headers from one height to the next at which a file of the last headers begins, on a chain without validators. */
export const lastHeaders = 16
/** Heights of which one has a file of its anchor, from which a client with a checkpoint there can begin. */
export const anchorInterval = 1024

/** The file that changes with each block that is mirrored; a node's claim until its anchor is checked. */
export interface MirrorHead {
  readonly format: typeof mirrorFormat
  /** Hash of the genesis block, display hex. */
  readonly chain: string
  readonly height: number
  /** Display hex. */
  readonly hash: string
  /** Hex, as in the tree. */
  readonly mapRoot: string
  /** Hex, as in the coinbase. */
  readonly didRoot: string
  readonly anchor: AnchorJson
  /** Number of changes of validators since genesis: each has a file. */
  readonly changes: number
  /** Number of whole files of headers. */
  readonly headers: number
  /** On a chain without validators: hash of the tip, by which the file of the headers up to it is named; display hex. */
  readonly tip?: string
  /** Signatures of witnesses. */
  readonly cosignatures?: readonly string[]
  /** When the file was written; RFC 3339. */
  readonly written: string
}

export const headName = 'head'
/** Heads with signatures of witnesses, for readers who ask for some. */
export const cosignedName = 'cosigned'
/** @limit count: heads in the file of cosigned heads of a mirror */
export const mostCosignedHeads = 4
export const aboutName = 'about'

/** The file of the change of validators with a number, from 0 on. */
export function changeName(number: number): string {
  return `change/${number}`
}

/** The file with the headers of heights {@link headersInFile} · number and on. */
export function headersName(number: number): string {
  return `headers/${number}`
}

/** The file with the headers from a multiple of {@link lastHeaders} up to the block of a hash, internal order. */
export function lastHeadersName(hash: Uint8Array): string {
  return named('last', hash)
}

/** The file of the anchor of a height that is a multiple of {@link anchorInterval}, as a change of validators. */
export function anchorName(height: number): string {
  return `anchor/${height}`
}
