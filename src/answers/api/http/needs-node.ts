/** A question that nodes alone can answer: a gateway has rows, and no pool, peers or votes. */
export class NeedsNode extends Error {}
