/** A question that nodes alone can answer: a gateway has rows, and no pool, peers or votes. */
export class NeedsNode extends Error {}

/** A part of a node that may be elsewhere. */
export function needed<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new NeedsNode()
  return part
}
