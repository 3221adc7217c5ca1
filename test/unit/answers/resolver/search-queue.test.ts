import { describe, expect, it } from 'vitest'
import { type Lane, SearchQueue } from '../../../../src/answers/resolver/search-queue.js'

/** Whether a search may begin already, and its end. */
function entered(queue: SearchQueue, lane: Lane, signal?: AbortSignal) {
  const state = { began: false, leave: () => {}, refused: undefined as unknown }
  const entering = queue.enter(lane, signal).then(
    (leave) => {
      state.began = true
      state.leave = leave
    },
    (error: unknown) => (state.refused = error),
  )
  return Object.assign(state, { entering })
}

const turn = () => new Promise(setImmediate)

describe('the queue of searches', () => {
  it('lets eight run that the index answers, and one that reads documents', async () => {
    const queue = new SearchQueue(128)
    const quick = Array.from({ length: 10 }, () => entered(queue, 'index'))
    const slow = Array.from({ length: 3 }, () => entered(queue, 'documents'))
    await turn()
    const begun = (all: readonly { began: boolean }[]) => all.filter(({ began }) => began).length
    expect([begun(quick), begun(slow)]).toEqual([8, 1])
    slow[0]?.leave()
    await turn()
    expect([begun(quick), begun(slow)]).toEqual([8, 2])
    quick[3]?.leave()
    await turn()
    expect([begun(quick), begun(slow)]).toEqual([9, 2])
  })

  it('refuses more than may wait', async () => {
    const queue = new SearchQueue(2)
    const first = entered(queue, 'documents')
    const waiting = [entered(queue, 'documents'), entered(queue, 'documents')]
    await turn()
    await expect(queue.enter('documents')).rejects.toMatchObject({ code: 'busy' })
    await queue.enter('index')
    first.leave()
    await turn()
    expect(waiting.map(({ began }) => began)).toEqual([true, false])
    expect(entered(queue, 'documents').refused).toBe(undefined)
  })

  it('lets one that was given up leave its place', async () => {
    const queue = new SearchQueue(1)
    const abort = new AbortController()
    const first = entered(queue, 'documents')
    const left = entered(queue, 'documents', abort.signal)
    await turn()
    abort.abort(new Error('enough'))
    await left.entering
    expect(left.refused).toEqual(new Error('enough'))
    const next = entered(queue, 'documents')
    await expect(queue.enter('index', abort.signal)).rejects.toThrow('enough')
    first.leave()
    await turn()
    expect([left.began, next.began]).toEqual([false, true])
  })

  it('ends with the node: those that wait are refused, those in progress are waited for', async () => {
    const queue = new SearchQueue(2)
    const running = entered(queue, 'documents')
    const waiting = entered(queue, 'documents')
    await turn()
    let closed = false
    const closing = queue.close().then(() => (closed = true))
    await turn()
    expect(waiting.refused).toMatchObject({ code: 'busy' })
    expect(closed).toBe(false)
    running.leave()
    await closing
    await expect(queue.enter('index')).rejects.toMatchObject({ code: 'busy' })
    await new SearchQueue(1).close()
  })
})
