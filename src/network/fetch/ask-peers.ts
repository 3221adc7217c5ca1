/**
 * Fetches blocks and transactions from several peers: here one thing from one peer after another, beside it many from all.
 *
 *   block of a new tip    -> fetchTip                      -> askPeers -> fetchBlock -> ask of a peer -> matchBody
 *   body of a vote        -> relay/vote-relay              -> askPeers -> fetchBlock
 *   headers of the sync   -> PendingHeaders -> BodyDownload -> Assignments -> ask of a peer -> body of a PendingBlock
 *   announced transaction -> TransactionFetcher             -> Assignments -> ask of a peer -> relay/transactions-relay
 *   time of a peer        -> PeerProgress.patience -> overdue: the next peer is asked as well
 *
 * Imports network/{link,penalties,assumed-block,wire,peers}, chain, consensus, crypto, errors, primitives, runtime; used by
 * network/{sync,relay}, library.
 * - One peer is asked for an item at a time, unless its answer is overdue; a late answer still counts.
 * - Wrong bytes are a penalty of the peer that sent them; another block than asked for is `peer-withheld`.
 * - Hedged requests end when their Timeouts close, the others when their owner does.
 */
import { timedOut, type Timeouts } from './timeouts.js'

/** Which peers a hedged request asks, how many at once, and how long before the next one is asked as well. */
export interface HedgePolicy<P> {
  /** Open requests at most. */
  readonly parallel: number
  /** Milliseconds after which the request is cancelled; unlimited if absent. */
  readonly limit?: number
  /** The peer to ask next; undefined if there is none at present. */
  next(): P | undefined
  /** Milliseconds before another peer is asked beside this one. */
  patience(peer: P): number
  /** Another peer is asked because this one is overdue; its late answer still counts. */
  onOverdue?(peer: P): void
  /** Whether an answer is still of use; true if absent. */
  needed?(): boolean
}

/**
 * Asks one peer after another until one has an answer, and the next one beside those that are overdue. Resolves with undefined
 * if none of them has it, at the limit, or when it is not needed any more. Rejects like `ask`, and with
 * {@link TimeoutsClosed} when the timeouts close.
 */
export async function askPeers<P, T>(
  ask: (peer: P) => Promise<T | undefined>,
  policy: HedgePolicy<P>,
  timeouts: Timeouts,
): Promise<T | undefined> {
  if (policy.limit === undefined) return hedge(ask, policy, timeouts)
  let over = false
  const limited = { ...policy, needed: () => !over && policy.needed?.() !== false }
  const answer = await timeouts.within(hedge(ask, limited, timeouts), policy.limit)
  over = true
  return answer === timedOut ? undefined : answer
}

async function hedge<P, T>(
  ask: (peer: P) => Promise<T | undefined>,
  { parallel, next, patience, onOverdue, needed }: HedgePolicy<P>,
  timeouts: Timeouts,
): Promise<T | undefined> {
  const open = new Map<P, Promise<{ readonly peer: P; readonly answer: T | undefined }>>()
  let latest: P | undefined
  for (let overdue = false; needed?.() !== false;) {
    const peer = open.size < parallel ? next() : undefined
    if (peer !== undefined) {
      if (overdue && latest !== undefined) onOverdue?.(latest)
      latest = peer
      open.set(
        peer,
        ask(peer).then((answer) => ({ peer, answer })),
      )
    }
    if (open.size === 0 || latest === undefined) return undefined
    const first = await timeouts.within(Promise.race(open.values()), patience(latest))
    overdue = first === timedOut && open.has(latest)
    if (first === timedOut) continue
    open.delete(first.peer)
    if (first.answer !== undefined) return first.answer
  }
  return undefined
}
