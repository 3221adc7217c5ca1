/** A set of texts of which there is mostly one: a Set would be made for each transaction, which takes longer than what it is for. */
export class TextSet {
  #one: string | undefined
  #others: Set<string> | undefined

  get size(): number {
    return (this.#one === undefined ? 0 : 1) + (this.#others?.size ?? 0)
  }

  /** Whether the text is new here. */
  add(text: string): boolean {
    if (this.#one === text || this.#others?.has(text) === true) return false
    if (this.#one === undefined) this.#one = text
    else (this.#others ??= new Set()).add(text)
    return true
  }

  /** Whether the text was here. */
  delete(text: string): boolean {
    if (this.#one !== text) return this.#others?.delete(text) === true
    this.#one = undefined
    return true
  }
}
