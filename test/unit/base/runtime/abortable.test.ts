import { expect, it } from 'vitest'
import { abortable } from '../../../../src/base/runtime/abortable.js'

const never = new Promise<never>(() => {})

it('is rejected when the signal is aborted, also before', async () => {
  const stop = new AbortController()
  const waiting = abortable(stop.signal, never)
  stop.abort(new Error('closed'))
  await expect(waiting).rejects.toThrow('closed')
  await expect(abortable(stop.signal, never)).rejects.toThrow('closed')
})

it('has the result of the work, and of work that fails its error', async () => {
  const { signal } = new AbortController()
  expect(await abortable(signal, Promise.resolve(1))).toBe(1)
  await expect(abortable(signal, Promise.reject(new Error('down')))).rejects.toThrow('down')
  expect(await abortable(undefined, Promise.resolve(2))).toBe(2)
})
