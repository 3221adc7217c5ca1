import { Session } from 'node:inspector/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of the heap that are still held once all garbage is gone. */
export function heldBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** Collects garbage again and again while a job runs: what nothing but the job holds must not end with it. */
export async function whileCollecting<T>(job: () => Promise<T>): Promise<T> {
  const timer = setInterval(collectGarbage, 20)
  try {
    return await job()
  } finally {
    clearInterval(timer)
  }
}

/** Collects garbage, as far as the caller's turn has let go of it. */
export function collectGarbage(): void {
  collector()
}

/** Bytes of the heap that are held after the frequent kind of collection, of young objects only. */
export function heldAfterYoung(): number {
  collector({ type: 'minor' })
  return process.memoryUsage().heapUsed
}

setFlagsFromString('--expose-gc')
const collector = runInNewContext('gc') as (how?: { readonly type: 'minor' }) => void

interface SampledNode {
  readonly selfSize: number
  readonly children: readonly SampledNode[]
}

/** Bytes of the heap that are allocated while a job runs, garbage included; an estimate from samples. */
export async function allocatedBytes(job: () => Promise<unknown>): Promise<number> {
  const session = new Session()
  session.connect()
  const collected = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
  await session.post('HeapProfiler.startSampling', { samplingInterval: 8192, ...collected })
  await job()
  const { profile } = await session.post('HeapProfiler.stopSampling')
  session.disconnect()
  const sizeOf = ({ selfSize, children }: SampledNode): number =>
    children.reduce((sum, child) => sum + sizeOf(child), selfSize)
  return sizeOf(profile.head)
}
