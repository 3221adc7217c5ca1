/** Work on databases over which shards will be divided, beside the steps of these. */
export class Division {
  isOver = false
  /** The error that it threw. */
  error: unknown
  /** Resolves at the end, whatever that was. */
  readonly ended: Promise<void>

  constructor(work: Promise<void>, over: () => void) {
    this.ended = work
      .catch((error: unknown) => void (this.error = error))
      .then(() => {
        this.isOver = true
        over()
      })
  }
}
