/** Why a transaction left the pool without being mined. Txids are display hex. */
export type DropReason =
  | { readonly kind: 'expired' }
  /** Others paid more for each byte; the sela a byte that it would have taken. */
  | { readonly kind: 'full'; readonly needed: string }
  /** A mined transaction spent an input, deactivated the DID, or proved the same or a later block of the side chain. */
  | { readonly kind: 'spent' | 'did-deactivated' | 'side-chain-proved'; readonly by: string }
  /** A transaction that spends the same took its place, for a higher fee. */
  | { readonly kind: 'replaced'; readonly by: string }
  /** A rule refuses it on the chain as it is now; the code and what was found. */
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string }
  /** A request, named here, took it out. */
  | { readonly kind: 'removed'; readonly by: string }
  /** The text of a reason that was kept across a restart. */
  | { readonly kind: 'stored'; readonly text: string }

/** The reason of a transaction that a rule refuses. */
export function refusedBy({ code, message }: { readonly code: string; readonly message: string }): DropReason {
  return { kind: 'refused', code, detail: message }
}

/** The reason as clients and rows of the database have it. */
export function dropText(reason: DropReason): string {
  switch (reason.kind) {
    case 'full':
      return `the pool was full of transactions with a higher fee rate: ${reason.needed} sela a byte were needed`
    case 'expired':
      return 'it waited too long for a block'
    case 'spent':
      return `an input was spent by ${reason.by}, which was mined`
    case 'did-deactivated':
      return `${reason.by} deactivates the DID`
    case 'side-chain-proved':
      return `${reason.by} proves the same block of the side chain, or a later one`
    case 'replaced':
      return `it was replaced by ${reason.by}, which spends the same and pays more`
    case 'refused':
      return `${reason.code}: ${reason.detail}`
    case 'removed':
      return `it was taken out by ${reason.by}`
    case 'stored':
      return reason.text
  }
}
