import { toHex } from '../../base/primitives/bytes.js'
import { type MirrorHead, mostCosignedHeads } from '../../identity/proofs/mirror-head.js'
import { readCosignature } from '../../identity/proofs/witness-note.js'

/**
 * Adds a head, and returns those with cosignatures, newest first. A head is dropped when one newer head has all of its witnesses: a newer
 * one with fewer must not displace what several have signed. So are heads below `floor`, whose files may be gone. Where there are too many,
 * those with the fewest witnesses go, the oldest first, but never the newest head.
 */
export function withCosigned(heads: readonly MirrorHead[], head: MirrorHead, floor: number): MirrorHead[] {
  const kept: { readonly head: MirrorHead; readonly witnesses: ReadonlySet<string> }[] = []
  for (const one of [head, ...heads.filter(({ height }) => height >= floor)]) {
    const witnesses = witnessesOf(one)
    if (!kept.some((newer) => [...witnesses].every((witness) => newer.witnesses.has(witness)))) {
      kept.push({ head: one, witnesses })
    }
  }
  while (kept.length > mostCosignedHeads) {
    const fewest = Math.min(...kept.slice(1).map(({ witnesses }) => witnesses.size))
    const place = kept.findLastIndex(({ witnesses }) => witnesses.size === fewest)
    kept.splice(place, 1)
  }
  return kept.filter(({ witnesses }) => witnesses.size > 0).map((one) => one.head)
}

function witnessesOf({ cosignatures = [] }: MirrorHead): ReadonlySet<string> {
  const read = cosignatures.map(readCosignature).filter((one) => one !== undefined)
  return new Set(read.map(({ name, id }) => `${name} ${toHex(id)}`))
}
