import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Collects garbage again and again while a job runs: what nothing but the job holds must not end with it. */
export async function whileCollecting<T>(job: () => Promise<T>): Promise<T> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const timer = setInterval(collect, 20)
  try {
    return await job()
  } finally {
    clearInterval(timer)
  }
}
