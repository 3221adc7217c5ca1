import { describe, expect, it } from 'vitest'
import { JobQueue } from '../../../../src/base/runtime/job-queue.js'

describe('the queue of the writer', () => {
  it('runs one job after another, whatever becomes of them', async () => {
    const queue = new JobQueue(10)
    const order: string[] = []
    const job = (name: string, milliseconds: number, fails = false) =>
      queue.run(async () => {
        order.push(`${name} begins`)
        await new Promise((resolve) => setTimeout(resolve, milliseconds))
        order.push(`${name} ends`)
        if (fails) throw new Error(name)
        return name
      })
    const results = await Promise.allSettled([job('a', 10), job('b', 5, true), job('c', 0)])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  it('refuses more than may wait, and takes more once there is room', async () => {
    const queue = new JobQueue(2)
    let release = (): void => {}
    const first = queue.run(() => new Promise<void>((resolve) => (release = resolve)))
    const second = queue.run(() => Promise.resolve('second'))
    await expect(queue.run(() => Promise.resolve())).rejects.toMatchObject({ code: 'busy' })
    await Promise.resolve()
    release()
    await Promise.all([first, second, queue.idle()])
    expect(await queue.run(() => Promise.resolve('third'))).toBe('third')
  })

  it('is idle after everything queued so far, failures included', async () => {
    const queue = new JobQueue(3)
    let done = false
    const failing = queue.run(() => Promise.reject(new Error('no')))
    const last = queue.run(() => Promise.resolve(void (done = true)))
    await queue.idle()
    expect(done).toBe(true)
    await expect(failing).rejects.toThrow('no')
    await last
  })
})
