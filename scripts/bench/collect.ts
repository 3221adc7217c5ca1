import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The collector of V8, which a flag makes callable. */
export const collect: () => void = (() => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()
