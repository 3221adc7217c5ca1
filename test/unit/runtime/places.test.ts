import { describe, expect, it } from 'vitest'
import { Places } from '../../../src/runtime/places.js'

describe('places', () => {
  it('are given in order, and back once', async () => {
    const places = new Places(1, 2, 'things')
    const order: number[] = []
    const first = await places.take()
    const second = places.take().then((release) => (order.push(2), release))
    const third = places.take().then((release) => (order.push(3), release))
    await expect(places.take()).rejects.toMatchObject({ code: 'busy', message: 'too many things wait; try again' })
    first()
    first()
    const releaseSecond = await second
    await Promise.resolve()
    expect(order).toEqual([2])
    releaseSecond()
    const releaseThird = await third
    expect(order).toEqual([2, 3])
    releaseThird()
    ;(await places.take())()
  })

  it('are not kept for work that no client waits for', async () => {
    const places = new Places(1, 1, 'things')
    const release = await places.take()
    const gone = new AbortController()
    const waiting = places.take(gone.signal)
    gone.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await expect(places.take(gone.signal)).rejects.toThrow('gone')
    const next = places.take()
    release()
    ;(await next)()
  })
})
