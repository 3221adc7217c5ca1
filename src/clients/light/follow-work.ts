import { equalBytes } from '../../base/primitives/bytes.js'
import type { Header } from '../../base/primitives/header.js'
import type { KnownChain } from '../../identity/proofs/anchor.js'
import { fail } from '../../identity/proofs/proof-failure.js'
import type { Checkpoint, WorkRules } from '../../identity/proofs/trust-root.js'
import { type FullHeader, HeaderChain, headersBefore, maxHeaders, readHeaders } from '../../identity/proofs/work.js'
import type { Server } from './ask-server.js'
import { type AskedServer, catchingUp } from './time-limited-server.js'
import type { ChainOptions, Followed, TrustBasis } from './trust-basis.js'
import type { LightMemory, SeenBlock } from './light-memory.js'

/** Chains without validators: headers are followed, and the chain with most work counts. Loaded for such chains alone. */

/** Headers remembered besides those that the next ones are checked against. */
const remembered = 1000
/** Headers gone back at first, where a server has another branch; then eight times as many. */
const firstStep = 8

/** The headers of a chain, as far as they were followed. */
export class FollowedWork implements TrustBasis {
  readonly #options: ChainOptions
  readonly #headers: HeaderChain

  constructor(options: ChainOptions, headers: HeaderChain) {
    this.#options = options
    this.#headers = headers
  }

  known(): Omit<KnownChain, 'genesis'> {
    return { requireWork: (header) => this.#headers.requireDeep(header, this.#options.confirmations) }
  }

  async follow(server: Server, now: number, found: (followed: Followed) => void): Promise<boolean> {
    return (await followWork(server, this.#headers, { now, keep: found })) !== this.#headers
  }

  apply(followed: Followed): TrustBasis {
    const headers = followed as HeaderChain
    // Another server may have been faster.
    return headers.work > this.#headers.work ? new FollowedWork(this.#options, headers) : this
  }

  get memory(): Omit<LightMemory, 'seen'> {
    const { rules, work } = this.#headers
    return { lists: [], headers: this.#headers.last(headersBefore(rules) + remembered), work }
  }
}

/** The headers that a memory holds, else that of genesis. */
export function rememberedWork(options: ChainOptions, memory: LightMemory | undefined): FollowedWork {
  const { work, header } = options.trust
  const { headers, work: sum } = memory ?? { headers: [header], work: 0n }
  return new FollowedWork(options, HeaderChain.over(work as WorkRules, headers, sum))
}

/**
 * Returns the chain of a server if it has more work than `chain`, else `chain`. `keep` takes the headers shown before a failure of the
 * server: the next question continues from there.
 */
export async function followWork(
  slow: AskedServer,
  chain: HeaderChain,
  { now, keep }: { readonly now: number; keep(chain: HeaderChain): void },
): Promise<HeaderChain> {
  const server = catchingUp(slow)
  let from = chain.tip.height + 1
  let found = await headersFrom(server, from)
  for (let step = firstStep; !continues(chain, found, from); step *= 8) {
    const lowest = chain.first.height + 1
    if (from === lowest) fail('work-link', 'no block of it is in the chain that is known')
    from = Math.max(lowest, from - step)
    found = await headersFrom(server, from)
  }
  const own = chain.upTo(from - 1)
  try {
    // A server sends fewer than asked for where they are large: only an empty answer is the end.
    for (; found.length > 0; found = await headersFrom(server, own.tip.height + 1)) {
      for (const full of found) own.add(full, now)
    }
  } finally {
    keep(own)
  }
  return own.work > chain.work ? own : chain
}

/** Whether headers continue the chain from a height on; none do so at its end. */
function continues(chain: HeaderChain, [first]: readonly FullHeader[], from: number): boolean {
  if (first === undefined) return from === chain.tip.height + 1
  return equalBytes(first.header.previous, (chain.at(from - 1) as Header).hash)
}

async function headersFrom(server: AskedServer, from: number, count = maxHeaders): Promise<readonly FullHeader[]> {
  return readHeaders(await server.get(`headers/${from}/${count}`), count)
}

/** The block of a checkpoint, and the chain up to it: the headers before it are trusted by hash. */
export async function fromCheckpoint(
  options: ChainOptions,
  slow: AskedServer,
  checkpoint: Checkpoint,
): Promise<{ seen: SeenBlock; work: FollowedWork }> {
  const server = catchingUp(slow)
  const rules = options.trust.work as WorkRules
  const from = Math.max(0, checkpoint.height - headersBefore(rules))
  const found: Header[] = []
  while (found.length <= checkpoint.height - from) {
    const at = from + found.length
    const headers = await headersFrom(server, at, Math.min(maxHeaders, checkpoint.height - at + 1))
    if (headers.length === 0) fail('work-link', `no header at height ${at}`)
    found.push(...headers.map(({ header }) => header))
  }
  const headers = believedUpTo(rules, found, checkpoint)
  return { seen: { header: headers.tip }, work: new FollowedWork(options, headers) }
}

function believedUpTo(rules: WorkRules, headers: readonly Header[], { height, hash }: Checkpoint): HeaderChain {
  const last = headers.at(-1)
  if (last?.height !== height || !equalBytes(last.hash, hash)) fail('checkpoint-hash', `block ${height} is another`)
  return HeaderChain.over(rules, headers)
}

/** The chain of a bundle: its headers from genesis on, of which those up to a checkpoint are trusted. */
export function bundledWork(
  options: ChainOptions,
  sent: unknown,
  checkpoint: Checkpoint | undefined,
  now: number,
): FollowedWork {
  const { trust } = options
  const rules = trust.work as WorkRules
  const full = readHeaders(sent, Infinity)
  const known = checkpoint?.height ?? 0
  const believed = [trust.header, ...full.slice(0, known).map(({ header }) => header)]
  const chain =
    checkpoint === undefined
      ? HeaderChain.over(rules, believed)
      : believedUpTo(rules, believed.slice(-headersBefore(rules) - 1), checkpoint)
  for (const one of full.slice(known)) chain.add(one, now)
  return new FollowedWork(options, chain)
}
