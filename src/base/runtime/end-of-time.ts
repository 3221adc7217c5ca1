/** A signal, and the end of its use. */
export interface End {
  readonly signal: AbortSignal
  release(): void
}

/**
 * A signal that aborts after so many milliseconds, or with the signal of a caller. Signals that Node combines (`AbortSignal.any`) can be
 * collected before their time, and never abort then.
 */
export function endOf(timeout: number, signal?: AbortSignal): End {
  const end = new AbortController()
  const timer = setTimeout(() => end.abort(new DOMException('no answer came in time', 'TimeoutError')), timeout)
  timer.unref()
  const leave = () => end.abort(signal?.reason)
  if (signal?.aborted === true) leave()
  else signal?.addEventListener('abort', leave, { once: true })
  const release = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  }
  return { signal: end.signal, release }
}
