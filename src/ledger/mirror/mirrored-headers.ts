import { joinFullHeader } from '../../base/primitives/block.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { parseConfirm } from '../../base/primitives/confirm.js'
import type { Hash } from '../../base/primitives/hash.js'
import { paramsAt, type Spec } from '../../base/primitives/spec.js'
import { compactConfirm } from '../../identity/proofs/anchor-confirm.js'
import { headersInFile, headersName, lastHeaders, lastHeadersName } from '../../identity/proofs/mirror-head.js'
import { headersFile, type MirrorHeader } from '../../identity/proofs/mirror-headers.js'
import { provedHeights } from '../storage/rows/map/map-rows.js'
import { present } from '../storage/rows/row-reader.js'
import { tables } from '../storage/rows/tables.js'
import type { FrozenRows } from '../storage/stored-rows.js'
import type { MirrorFile } from './mirror-store.js'

/** Files of headers: whole ones of blocks that no reorganisation takes back, and on a chain without validators those of the last ones. */

/** The headers of a chain up to its tip. */
export interface HeaderSource {
  readonly rows: FrozenRows
  readonly spec: Spec
  readonly tip: number
}

/** Number of whole files of headers. Validators' blocks are final; others are once they are as deep as a reorganisation goes. */
export function wholeFiles({ spec, tip }: HeaderSource): number {
  const last = spec.hasValidators ? tip : tip - provedHeights
  return Math.max(0, Math.floor((last + 1) / headersInFile))
}

/** The whole files with numbers from one on. */
export function* wholeHeaders(source: HeaderSource, from: number): Generator<MirrorFile, void, void> {
  for (let number = from; number < wholeFiles(source); number++) {
    const first = number * headersInFile
    yield { name: headersName(number), bytes: headersFile(headersOf(source, first, first + headersInFile - 1)) }
  }
}

/** The files of the last headers on a chain without validators, of blocks above a height: those that end below a multiple of {@link lastHeaders}, and that of the tip. */
export function* lastFiles(source: HeaderSource, above: number): Generator<MirrorFile, void, void> {
  const { spec, tip, rows } = source
  if (spec.hasValidators) return
  for (const height of lastEnds(above, tip)) {
    const first = height - (height % lastHeaders)
    yield { name: lastHeadersName(activeHash(rows, height)), bytes: headersFile(headersOf(source, first, height)) }
  }
}

/** Names of the files of last headers that end above a height, up to another. */
export function lastNames({ rows, spec }: HeaderSource, above: number, to: number): readonly string[] {
  return spec.hasValidators ? [] : lastEnds(above, to).map((height) => lastHeadersName(activeHash(rows, height)))
}

export function activeHash(rows: FrozenRows, height: number): Hash {
  return present(rows.get(tables.active.key(height)), `the block of height ${height}`)
}

/** Whether a block is on the chain of the rows. */
export function isActive(rows: FrozenRows, height: number, hash: Hash): boolean {
  const active = rows.get(tables.active.key(height))
  return active !== undefined && equalBytes(active, hash)
}

function lastEnds(above: number, tip: number): readonly number[] {
  const first = above + 1 + ((2 * lastHeaders - 2 - (above % lastHeaders)) % lastHeaders)
  const ends: number[] = []
  for (let height = first; height < tip; height += lastHeaders) ends.push(height)
  return tip > above ? [...ends, tip] : ends
}

function headersOf({ rows, spec }: HeaderSource, from: number, to: number): MirrorHeader[] {
  return Array.from({ length: to - from + 1 }, (_, i) => headerOf(rows, spec, from + i))
}

function headerOf(rows: FrozenRows, spec: Spec, height: number): MirrorHeader {
  const hash = activeHash(rows, height)
  const { header, auxPow } = present(tables.header.get(rows, hash), `the header of height ${height}`)
  if (!spec.hasValidators) return { header: joinFullHeader(header, auxPow), confirm: new Uint8Array(0) }
  const confirm = rows.get(tables.confirm.key(hash))
  const { validators } = paramsAt(spec, height)
  return { header, confirm: confirm ? compactConfirm(parseConfirm(confirm), validators) : new Uint8Array(0) }
}
