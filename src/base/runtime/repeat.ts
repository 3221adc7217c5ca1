import type { Env } from './env.js'

/** Calls back every so many milliseconds, each time counted from the call before; the returned function ends it, also from within a call. */
export function repeat({ timers }: Pick<Env, 'timers'>, milliseconds: number, callback: () => void): () => void {
  let ended = false
  let cancel = timers.after(milliseconds, tick)
  function tick(): void {
    callback()
    if (!ended) cancel = timers.after(milliseconds, tick)
  }
  return () => {
    ended = true
    cancel()
  }
}
