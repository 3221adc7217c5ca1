import { expect, it } from 'vitest'
import { boundAddressDials } from '../../../../../src/network/transport/patches/address-timeout.js'

/** A transport whose dials end when their signal aborts, but for the address `good`. */
class FakeTransport {
  readonly signals: AbortSignal[] = []

  dial(address: string, { signal }: { signal: AbortSignal }): Promise<string> {
    this.signals.push(signal)
    if (address === 'good') return Promise.resolve('connected')
    return new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason as Error)
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  }
}

const never = new AbortController().signal

it('gives up an address that does not answer, and leaves the whole dial as it is', async () => {
  const transport = boundAddressDials(new FakeTransport(), 1)
  const whole = new AbortController()
  await expect(transport.dial('silent', whole)).rejects.toMatchObject({ name: 'TimeoutError' })
  expect(whole.signal.aborted).toBe(false)
  expect(await transport.dial('good', whole)).toBe('connected')
})

it('does not abort a connection that stands', async () => {
  const transport = boundAddressDials(new FakeTransport(), 1)
  await transport.dial('good', { signal: never })
  await expect(transport.dial('silent', { signal: never })).rejects.toThrow()
  expect(transport.signals.map(({ aborted }) => aborted)).toEqual([false, true])
})

it('ends with the whole dial, also with one that ended before', async () => {
  const transport = boundAddressDials(new FakeTransport(), 600_000)
  const whole = new AbortController()
  const underWay = transport.dial('silent', whole)
  const reason = new Error('the node closes')
  whole.abort(reason)
  await expect(underWay).rejects.toBe(reason)
  await expect(transport.dial('silent', whole)).rejects.toBe(reason)
})
