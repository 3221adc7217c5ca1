/** Resolves as a promise does; rejects with the reason of a signal once that is aborted, whatever becomes of the promise. */
export async function abortable<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work
  // The caller may be gone when it fails.
  work.catch(() => {})
  signal.throwIfAborted()
  let abort: () => void
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
  })
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
