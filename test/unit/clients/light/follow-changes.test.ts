import { describe, expect, it } from 'vitest'
import { readCheckpoint, readTrust } from '../../../../src/identity/proofs/trust.js'
import { bundledLists } from '../../../../src/clients/light/follow-changes.js'
import { Signatures } from '../../../../src/clients/light/signatures.js'
import { failureOf, lightWorld } from '../../../support/builders/light-world.js'

const { book } = lightWorld({ changeAt: 9 })
const trust = readTrust(book.trust())
const change = book.change(9)

/** Heights of the lists in a bundle, or why it is refused. */
async function listsOf(changes: unknown[], checkpoint?: number): Promise<unknown> {
  const from = checkpoint === undefined ? undefined : readCheckpoint(book.checkpoint(checkpoint), trust)
  const lists = bundledLists(trust, changes, from, new Signatures())
  return failureOf(lists.then((found) => found.map(({ height }) => height)))
}

describe('changes of validators in a bundle', () => {
  it('follow the validators of genesis, or those of a checkpoint', async () => {
    expect(await listsOf([change])).toEqual([1, 9])
    expect(await listsOf([change], 3)).toEqual([4, 9])
  })

  it('are looked at only above a checkpoint', async () => {
    expect(await listsOf([change], 8)).toEqual([9])
    expect(await listsOf([change], 9)).toEqual([10])
    expect(await listsOf([{ ...change, height: 5 }, change], 4)).toEqual([5, 9])
    expect(await listsOf([{ ...change, height: 6 }, change], 4)).toBe('changes-order')
  })

  it.each([[[0, 9]], [[1, 9]], [[9, 9]], [[10, 9]], [[8]], [[10]]])('are refused at heights %j', async (heights) => {
    expect(await listsOf(heights.map((height) => ({ ...change, height })))).toBe('changes-order')
  })
})
