import { describe, expect, it } from 'vitest'
import { quickSigner } from '../../../../src/base/crypto/quick-signer.js'
import { FollowedValidators } from '../../../../src/clients/light/followed-validators.js'
import type { ChainOptions } from '../../../../src/clients/light/trust-basis.js'

const lists = [1, 5, 9].map((height) => ({ height, keys: [quickSigner().publicKey] }))
const [first, second, third] = lists as [(typeof lists)[0], (typeof lists)[0], (typeof lists)[0]]
const of = (...known: typeof lists) => new FollowedValidators({} as ChainOptions, known)

describe('the validators that are known', () => {
  it('gain what follows them', () => {
    expect(of(first).apply(lists).memory).toEqual({ lists, headers: [], work: 0n })
    expect(of(first, second).apply(lists).memory.lists).toEqual(lists)
  })

  it('are the same value where that is no more, so that nothing is kept anew', () => {
    const known = of(first, second)
    expect(known.apply([first, second])).toBe(known)
    expect(known.apply([first])).toBe(known)
  })

  it('are the same value where that contradicts them, however long it is', () => {
    const known = of(first, second)
    expect(known.apply([first, { ...second, height: 6 }, third])).toBe(known)
    expect(known.apply([first, { ...second, keys: third.keys }, third])).toBe(known)
    expect(known.apply([second, third, first])).toBe(known)
  })
})
