/** An engine does not answer, or answers that it cannot: to try again helps. */
export class EngineDown extends Error {
  override readonly name = 'EngineDown'
  readonly shard: number

  constructor(shard: number, why: string) {
    super(`shard ${shard}: ${why}`)
    this.shard = shard
  }
}

/** Gives the error of an engine that does not answer as a value; throws any other. */
export function downOrThrow(error: unknown): EngineDown {
  if (error instanceof EngineDown) return error
  throw error
}
