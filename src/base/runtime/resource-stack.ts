/** Resources to close, in the reverse order of opening. */
export class ResourceStack {
  readonly #closers: (() => unknown)[] = []
  #closing: Promise<void> | undefined

  /** Adds what {@link close} calls and awaits. */
  defer(close: () => unknown): void {
    this.#closers.push(close)
  }

  /** Calls all of it, the latest first, each after the one before is done; rejects with the first failure. Later calls share the result. */
  close(): Promise<void> {
    return (this.#closing ??= this.#closeAll())
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = []
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
