import { describe, expect, it } from 'vitest'
import { WorkSlots } from '../../../../src/base/runtime/work-slots.js'

describe('places', () => {
  it('are given in order, and back once', async () => {
    const places = new WorkSlots(1, 2, 'things')
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

  it('are given to the shares in turn, however many of one wait', async () => {
    const places = new WorkSlots(1, Infinity, 'things')
    const order: string[] = []
    const job = (share: string, name: string) => places.run(async () => void order.push(name), { share })
    const release = await places.take()
    const jobs = ['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2'].map((name) => job(name.slice(0, 1), name))
    release()
    await Promise.all(jobs)
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  })

  it('are given to a share only as many as one may have: the last of them is taken, and one more waits', async () => {
    const slots = new WorkSlots(3, 1, 'things', 2)
    const own = [await slots.take({ share: 'a' }), await slots.take({ share: 'a' })]
    const order: string[] = []
    const third = slots.take({ share: 'a' }).then((release) => (order.push('a'), release))
    await expect(slots.take({ share: 'a' })).rejects.toMatchObject({ code: 'busy' })
    // One is free all along: for another share, which does not wait behind the third of this one.
    const other = await slots.take({ share: 'b' })
    other()
    await Promise.resolve()
    expect(order).toEqual([])
    own[0]?.()
    ;(await third)()
    own[1]?.()
    const all = await Promise.all(['a', 'a', 'b'].map((share) => slots.take({ share })))
    for (const release of all) release()
  })

  it('come back from work that fails', async () => {
    const places = new WorkSlots(1, 1, 'things')
    await expect(places.run(() => Promise.reject(new Error('in vain')))).rejects.toThrow('in vain')
    ;(await places.take())()
  })

  it('take back the turn of a share whose work is not waited for any more', async () => {
    const places = new WorkSlots(1, 2, 'things')
    const release = await places.take()
    const gone = new AbortController()
    const left = places.take({ share: 'a', signal: gone.signal })
    const stays = places.take({ share: 'b' })
    gone.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    const more = places.take({ share: 'a' })
    await expect(places.take({ share: 'c' })).rejects.toMatchObject({ code: 'busy' })
    release()
    ;(await stays)()
    ;(await more)()
  })

  it('are not kept for work that no client waits for', async () => {
    const places = new WorkSlots(1, 1, 'things')
    const release = await places.take()
    const gone = new AbortController()
    const waiting = places.take({ signal: gone.signal })
    gone.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await expect(places.take({ signal: gone.signal })).rejects.toThrow('gone')
    const next = places.take()
    release()
    ;(await next)()
  })
})
