import { setImmediate as giveWay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { collectGarbage } from '../../../../src/base/runtime/collect-garbage.js'

it('what nothing uses any more is collected at once, and what is used stays', async () => {
  const kept = { name: 'kept' }
  const weak = (value: object) => new WeakRef(value)
  const [gone, there] = [weak({ name: 'gone' }), weak(kept)]
  // A reference that was just made keeps its object until the end of the turn.
  await giveWay()
  collectGarbage()
  expect(gone.deref()).toBeUndefined()
  expect(there.deref()).toBe(kept)
  // Nothing of it is left to other code.
  expect(Reflect.has(globalThis, 'gc')).toBe(false)
})
