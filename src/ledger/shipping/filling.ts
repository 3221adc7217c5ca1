/** A filling beside the steps of other shards. */
export class Filling {
  isOver = false
  /** The error that it threw. */
  error: unknown
  /** Resolves at the end, whatever that was. */
  readonly ended: Promise<void>

  constructor(filled: Promise<void>, over: () => void) {
    this.ended = filled
      .catch((error: unknown) => void (this.error = error))
      .then(() => {
        this.isOver = true
        over()
      })
  }
}
