/** A question that nodes alone can answer: a gateway has rows, and no pool, peers or votes. */
export class NeedsNode extends Error {
  /** How a node is asked with the parameters of the call, where that is no call of its own; undefined: by one. */
  readonly ask: ((params: unknown) => Promise<unknown>) | undefined

  constructor(ask?: (params: unknown) => Promise<unknown>) {
    super('a node is needed')
    this.ask = ask
  }
}

/** A part of a node that may be elsewhere. */
export function needed<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new NeedsNode()
  return part
}
