import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** V8's garbage collector, callable through a flag. */
export const collect: () => void = (() => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()
