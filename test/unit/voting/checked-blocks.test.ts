import { describe, expect, it } from 'vitest'
import { CheckedBlocks } from '../../../src/voting/checked-blocks.js'
import { fakeHeader } from '../../support/builders/votes.js'

const [first, second, third] = ['a', 'b', 'c'].map((name) => fakeHeader(7, name)) as [
  ReturnType<typeof fakeHeader>,
  ReturnType<typeof fakeHeader>,
  ReturnType<typeof fakeHeader>,
]

describe('the newest checked block', () => {
  it('is a valid one, named last, that may be proposed', () => {
    const blocks = new CheckedBlocks()
    const newest = (except?: object) => blocks.newest((header) => header !== except)
    expect(newest()).toBeUndefined()
    blocks.add(first, 'valid')
    blocks.add(second, 'valid')
    blocks.add(third, 'invalid')
    expect([newest(), newest(second)]).toEqual([second, first])
    blocks.name(first.hash)
    blocks.name(third.hash)
    expect([newest(), newest(first)]).toEqual([first, second])
    expect([first, second, third].map(({ hash }) => blocks.verdict(hash))).toEqual(['valid', 'valid', 'invalid'])
  })
})
