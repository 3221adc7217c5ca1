import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

interface Resolvers {
  promise: Promise<number>
  resolve(value: number): void
  reject(error: Error): void
}
const constructor: PromiseConstructor & { withResolvers?: unknown } = Promise
const own = constructor.withResolvers

beforeEach(() => vi.resetModules())
afterEach(() => {
  constructor.withResolvers = own
})

describe('the polyfill', () => {
  it('adds Promise.withResolvers where it is missing', async () => {
    constructor.withResolvers = undefined
    await import('../../../../../src/network/transport/patches/with-resolvers.js')
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
    await import('../../../../../src/network/transport/patches/with-resolvers.js')
    expect(constructor.withResolvers).toBe(there)
  })
})
