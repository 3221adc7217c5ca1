/** Headers by name; names in lowercase. */
type Headers = Readonly<Record<string, string | number>>

/**
 * Headers of an answer, each once, in the order in which they were first set. A list of names and values in turn, as Node takes it: adding
 * names to a copied object takes V8 microseconds each time, longer than all else that a short answer needs.
 */
export class HeaderList {
  /** Name, value, name, value …; names in lowercase. */
  readonly items: (string | number)[]

  constructor(items: readonly (string | number)[] = []) {
    this.items = [...items]
  }

  static of(headers: Headers): HeaderList {
    return new HeaderList(Object.entries(headers).flat())
  }

  get(name: string): string | number | undefined {
    const at = this.#placeOf(name)
    return at < 0 ? undefined : this.items[at + 1]
  }

  /** Sets a header, in the place of an earlier one of its name. */
  set(name: string, value: string | number): void {
    const at = this.#placeOf(name)
    if (at < 0) this.items.push(name, value)
    else this.items[at + 1] = value
  }

  setAll(headers: Headers): void {
    for (const name of Object.keys(headers)) this.set(name, headers[name] as string | number)
  }

  /** These headers and others, which go before. */
  with(headers: Headers | undefined): HeaderList {
    const all = new HeaderList(this.items)
    if (headers !== undefined) all.setAll(headers)
    return all
  }

  #placeOf(name: string): number {
    for (let at = 0; at < this.items.length; at += 2) if (this.items[at] === name) return at
    return -1
  }
}
