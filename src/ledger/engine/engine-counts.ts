/** Counters of the rows of a gateway since its start; `bytes`: rows in memory now. */
export interface EngineCounts {
  readonly statements: number
  readonly replays: number
  readonly moves: number
  readonly hits: number
  readonly misses: number
  readonly bytes: number
}
