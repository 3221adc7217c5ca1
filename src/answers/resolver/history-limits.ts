/** Limits of answers with several operations of a DID. */
export const historyLimits = {
  /** @tuning count: operations of a part of a history without a limit */
  sliceUnasked: 100,
  /** @limit count: operations of any part of a history */
  slice: 1000,
  /** @limit count: operations of a history that is asked for at once */
  operations: 10_000,
  /** @limit bytes: transactions of a history; a part of one has at least one operation */
  bytes: 8 * 1024 * 1024,
  /** @tuning bytes: transactions of a history that is answered like a single version */
  short: 64 * 1024,
  /** @tuning bytes: transactions of a history that is read beside any number of others */
  unplaced: 1024 * 1024,
  /** @tuning count: longer histories read at the same time */
  places: 4,
  /** @limit count: longer histories that wait for those */
  waiting: 128,
  /**
   * Only a miner can make larger ones than the pool accepts.
   * @tuning count: transactions of a history read at once
   */
  atOnce: 8,
}
