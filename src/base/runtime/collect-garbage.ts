import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Has V8 collect all garbage at once, some tens of milliseconds. By itself it waits for its own heap to grow, and counts little of the memory outside
 * of it: buffers that nothing uses any more can stay for minutes. For the end of a phase that has left much of it.
 */
export function collectGarbage(): void {
  // Node exposes the function to contexts that are made after the flag is set, and to no other.
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  collect()
}
