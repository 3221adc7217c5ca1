import { expect, it } from 'vitest'
import { cosignatureLine } from '../../../../src/identity/proofs/witness-note.js'
import type { MirrorHead } from '../../../../src/identity/proofs/mirror-head.js'
import { withCosigned } from '../../../../src/ledger/mirror/cosigned-heads.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'
import { witnessSecret } from '../../../support/builders/witness-world.js'

const { key } = witnessSecret('w.example/0')
const head = (height: number, ...witnesses: number[]): MirrorHead => {
  const cosignatures = witnesses.map((one) =>
    cosignatureLine({ ...key, name: `w.example/${one}` }, height, new Uint8Array(64)),
  )
  return { height, cosignatures } as unknown as MirrorHead
}
const heights = (heads: readonly MirrorHead[]) => heads.map(({ height }) => height)

it('keeps a head until a newer one has all of its witnesses', () => {
  const first = withCosigned([], head(5, 0, 1), 0)
  const second = withCosigned(first, head(6, 0), 0)
  expect(heights(second)).toEqual([6, 5])
  expect(heights(withCosigned(second, head(6, 0, 1), 0))).toEqual([6])
  // The two newest have both witnesses, but neither by itself.
  expect(heights(withCosigned(second, head(7, 1), 0))).toEqual([7, 6, 5])
})

it('leaves out heads whose files may be gone, and those without the line of a witness', () => {
  const kept = withCosigned([], head(5, 0, 1), 0)
  expect(heights(withCosigned(kept, head(9, 0), 5))).toEqual([9, 5])
  expect(heights(withCosigned(kept, head(9, 0), 6))).toEqual([9])
  expect(withCosigned([], { ...head(5), cosignatures: ['x'] }, 0)).toEqual([])
})

it('keeps at most four: those with the most witnesses, of these the newest', () => {
  let heads: MirrorHead[] = []
  for (const [height, witnesses] of [[0, 1], [2], [3], [4]].entries())
    heads = withCosigned(heads, head(height + 1, ...witnesses), 0)
  expect(heights(heads)).toEqual([4, 3, 2, 1])
  expect(heights(withCosigned(heads, head(5, 5), 0))).toEqual([5, 4, 3, 1])
})

it('has, for each number of witnesses, the newest head that so many of all signed', () => {
  const random = new SeededRandom(4)
  let heads: MirrorHead[] = []
  const newest = [0, 0, 0]
  for (let height = 1; height <= 300; height++) {
    const witnesses = [0, 1, 2].filter(() => random.below(3) === 0)
    if (witnesses.length === 0) continue
    heads = withCosigned(heads, head(height, ...witnesses), 0)
    for (let count = 1; count <= witnesses.length; count++) newest[count - 1] = height
    for (const [place, found] of newest.entries()) {
      if (found === 0) continue
      expect(heads.find(({ cosignatures = [] }) => cosignatures.length > place)?.height).toBe(found)
    }
  }
})
