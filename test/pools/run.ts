import { poolsOfSeed, PoolWorld, type Tally } from './world.js'

/** Lets the pools of one seed come and go. A broken promise is thrown with the seed and how to see it again. */
export async function runSeed(seed: number): Promise<Tally> {
  const world = new PoolWorld(seed)
  try {
    await world.run()
    return world.tally
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
    throw new Error(
      `seed ${seed}, pool ${world.tally.pools} of ${poolsOfSeed}: ${what}\nnpm run pools -- --seed ${seed}`,
      {
        cause: error,
      },
    )
  }
}

/** Runs `count` seeds from `first` on, and goes on when one fails. */
export async function runSeeds(first: number, count: number): Promise<{ failures: string[]; tally: Tally }> {
  const failures: string[] = []
  const tally = { ...new PoolWorld(0).tally }
  for (let seed = first; seed < first + count; seed++) {
    try {
      const one = await runSeed(seed)
      for (const name of Object.keys(tally) as (keyof Tally)[]) tally[name] += one[name]
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  return { failures, tally }
}
