import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of the heap that are still held once all garbage is gone. */
export function heldBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** Collects garbage again and again while a job runs: what nothing but the job holds must not end with it. */
export async function whileCollecting<T>(job: () => Promise<T>): Promise<T> {
  const timer = setInterval(collector(), 20)
  try {
    return await job()
  } finally {
    clearInterval(timer)
  }
}

/** Collects garbage, as far as the caller's turn has let go of it. */
export function collectGarbage(): void {
  collector()()
}

function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
