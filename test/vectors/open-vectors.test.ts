import { expect, it } from 'vitest'
import { copied, openVectors } from '../support/builders/vectors.js'

interface Merkle {
  about: string
  vectors: { n: number; leavesInternal: string[]; rootInternal: string }[]
}

it('a vector file with an unread member fails', () => {
  const file = openVectors<Merkle>('merkle.json', { descriptive: ['about'] })
  const { vectors } = file.data
  expect(() => file.finish()).toThrow('merkle.json: nothing reads /vectors/0/n')
  for (const vector of vectors) copied([vector.n, vector.leavesInternal])
  expect(() => file.finish()).toThrow(/reads \/vectors\/0\/rootInternal, \/vectors\/1\/rootInternal/)
  for (const { rootInternal } of vectors) expect(rootInternal).toHaveLength(64)
  expect(() => file.finish()).not.toThrow()
})

it('a list is not read by asking for its length', () => {
  const file = openVectors<Merkle>('merkle.json', { descriptive: ['about', 'n', 'rootInternal'] })
  expect(file.data.vectors.map(({ leavesInternal }) => leavesInternal.length)).toHaveLength(6)
  expect(() => file.finish()).toThrow('/vectors/0/leavesInternal/0')
})
