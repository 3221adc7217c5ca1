import { vi } from 'vitest'

/** Timer functions to replace. */
const timers = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const

/** Lets so many milliseconds pass, with all that they set off. */
export type Pass = (milliseconds: number) => Promise<unknown>

/** Runs while the timers and the stopwatch of this process stand still, unless `pass` moves them; input and output go on. */
export async function withPassingTime<T>(run: (pass: Pass) => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: [...timers, 'performance'] })
  // The platform's own would go by the clock of the system.
  const signals = vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    const abort = new AbortController()
    setTimeout(() => abort.abort(new DOMException('the time is over', 'TimeoutError')), milliseconds)
    return abort.signal
  })
  try {
    return await run((milliseconds) => vi.advanceTimersByTimeAsync(milliseconds))
  } finally {
    signals.mockRestore()
    vi.useRealTimers()
  }
}
