import { afterEach, describe, expect, it } from 'vitest'
import { addWithResolvers } from '../../../../../src/network/transport/patches/with-resolvers.js'

interface Resolvers {
  promise: Promise<number>
  resolve(value: number): void
  reject(error: Error): void
}
const constructor: PromiseConstructor & { withResolvers?: unknown } = Promise
const own = constructor.withResolvers

afterEach(() => {
  constructor.withResolvers = own
})

describe('the polyfill', () => {
  it('adds Promise.withResolvers where it is missing', async () => {
    constructor.withResolvers = undefined
    addWithResolvers()
    const withResolvers = constructor.withResolvers as (this: PromiseConstructor) => Resolvers
    const one = withResolvers.call(Promise)
    one.resolve(5)
    expect(await one.promise).toBe(5)
    const other = withResolvers.call(Promise)
    other.reject(new Error('no'))
    await expect(other.promise).rejects.toThrow('no')
  })

  it('leaves one that is there', async () => {
    const there = (): Resolvers => ({ promise: Promise.resolve(1), resolve: () => {}, reject: () => {} })
    constructor.withResolvers = there
    addWithResolvers()
    expect(constructor.withResolvers).toBe(there)
  })
})
