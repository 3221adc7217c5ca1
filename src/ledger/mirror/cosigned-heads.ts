import { toHex } from '../../base/primitives/bytes.js'
import { type MirrorHead, mostCosignedHeads } from '../../identity/proofs/mirror-head.js'
import { readCosignature } from '../../identity/proofs/witness-note.js'

/**
 * The heads with cosignatures after another one, newest first: each that no newer one replaces, which has all of its witnesses. The first
 * witness of a new block would else take from readers what several have signed before. Heads below `floor`, whose files may be gone, are
 * left out; where there are too many, of those before the newest the ones with the fewest witnesses, the older first.
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
