import { expect, it } from 'vitest'
import { Waiter } from '../../../../src/ledger/shipping/waiter.js'

it('a wait ends when it is woken, at once when it was woken before, and in time when it was not', async () => {
  const callbacks: (() => void)[] = []
  const waiter = new Waiter({
    after: (_, callback) => {
      callbacks.push(callback)
      return () => {}
    },
  })
  const first = waiter.wait(1000)
  waiter.wake()
  await first
  waiter.wake()
  await waiter.wait(1000)
  expect(callbacks.length).toBe(1)
  const late = waiter.wait(1000)
  callbacks[1]?.()
  await late
  expect(callbacks.length).toBe(2)
})
