import { RuleError } from '../errors.js'

/** Bounds the bytes of all request bodies that are in memory at once. */
export class BodyBudget {
  #free: number

  constructor(bytes: number) {
    this.#free = bytes
  }

  /** Takes `bytes`, or throws `busy`. The returned function gives them back, once. */
  take(bytes: number): () => void {
    if (bytes > this.#free) throw new RuleError('busy', 'too many large requests at once; try again')
    this.#free -= bytes
    let taken = bytes
    return () => {
      this.#free += taken
      taken = 0
    }
  }
}
