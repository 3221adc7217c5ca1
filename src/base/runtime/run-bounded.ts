/**
 * Runs a job for each item, at most `most` at a time: the next item is read once there is room for its job. Resolves when all jobs are
 * done. Rejects with the first failure, of a job or of the items, once no job is under way; no item is read after it.
 */
export async function runBounded<T>(
  items: AsyncIterable<T> | Iterable<T>,
  most: number,
  job: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  let running = 0
  let ended = () => {}
  const jobEnd = () => new Promise<void>((resolve) => (ended = resolve))
  const begin = async (item: T) => {
    running++
    try {
      await job(item)
    } catch (error) {
      failures.push(error)
    }
    running--
    ended()
  }
  try {
    for await (const item of items) {
      if (failures.length > 0) break
      void begin(item)
      while (running >= most) await jobEnd()
      if (failures.length > 0) break
    }
  } catch (error) {
    failures.push(error)
  }
  while (running > 0) await jobEnd()
  if (failures.length > 0) throw failures[0]
}
