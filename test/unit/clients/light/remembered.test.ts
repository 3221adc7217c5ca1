import { describe, expect, it } from 'vitest'
import type { Followed, TrustBasis } from '../../../../src/clients/light/trust-basis.js'
import { Remembered } from '../../../../src/clients/light/remembered.js'
import { lightWorld } from '../../../support/builders/light-world.js'

const { book } = lightWorld()
const seen = (height: number, confirmed = true) => {
  const { block, confirm } = book.page(height)
  return { header: block.header, ...(confirmed && confirm && { confirm }) }
}

/** Validators of which alone the number of lists counts. */
class Lists implements TrustBasis {
  readonly memory = { lists: [], headers: [], work: 0n }
  constructor(readonly length: number) {}
  known = () => ({})
  follow = () => Promise.resolve(false)
  apply(followed: Followed): TrustBasis {
    const { length } = followed as readonly unknown[]
    return length > this.length ? new Lists(length) : this
  }
}

describe('what is remembered of a chain', () => {
  const first = new Remembered(seen(3), new Lists(1))

  it('is a new value with a higher block, and the same with a lower one', () => {
    const next = first.apply({ block: seen(4) })
    expect(next.seen.header.height).toBe(4)
    expect(first.seen.header.height).toBe(3)
    expect(next.foundation).toBe(first.foundation)
    expect(first.apply({ block: seen(2) })).toBe(first)
    expect(first.apply({ block: seen(3) })).toBe(first)
    expect(first.apply({ block: seen(3, false) })).toBe(first)
  })

  it('gains the confirm of a block that was believed without one', () => {
    const believed = new Remembered(seen(3, false), new Lists(1))
    expect(believed.apply({ block: seen(3, false) })).toBe(believed)
    expect(believed.apply({ block: seen(3) }).seen.confirm).toBeDefined()
  })

  it('is a new value with more validators, and the same with no more', () => {
    const two = [{}, {}] as unknown as Followed
    const next = first.apply({ followed: two })
    expect(next).not.toBe(first)
    expect(next.seen).toBe(first.seen)
    expect(first.apply({ followed: [{}] as unknown as Followed })).toBe(first)
  })
})
