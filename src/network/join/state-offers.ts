import type { Verifier } from '../../base/crypto/verifier.js'
import { runChecks } from '../../base/crypto/verifier.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes, toHex } from '../../base/primitives/bytes.js'
import { CodecError, Reader } from '../../base/primitives/codec.js'
import { parseConfirm } from '../../base/primitives/confirm.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import { coinDepth } from '../../base/primitives/coin-depth.js'
import { Writer } from '../../base/primitives/codec.js'
import { type Hash, runningSha256 } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { coinStateOf, type Spec } from '../../base/primitives/spec.js'
import type { Clock, Log } from '../../base/runtime/env.js'
import { checkConfirm } from '../../ledger/consensus/check-confirm.js'
import { checkClock } from '../../ledger/consensus/context.js'
import { GrowingBytes } from '../../ledger/state/growing-bytes.js'
import { type ListedPart, listedPart, listedSize } from '../../ledger/state/listed-part.js'
import { follows, maxPart, partKind } from '../../ledger/state/parts.js'
import { encodeHead, readHead, type StateHead } from '../../ledger/state/state-head.js'
import type { SyncPeer } from '../fetch/sync-peer.js'
import { partsListed, statePartsAtMost, type StateList, stateListExchange } from '../wire/state-message.js'

/**
 * Validators who left may sell their keys.
 * @tuning count: days since the block that commits to a state, at which the state is not taken from peers any more
 */
export const oldestDays = 30

/** A state that peers list, all of them the same parts of it. */
export interface StateOffer {
  /** Names it: SHA-256, hex, over head without confirm, header, work and list. */
  readonly id: string
  readonly head: StateHead
  /** Bytes of the head with a confirm that holds. */
  readonly headBytes: Uint8Array
  /** The block that commits to the coins. */
  readonly header: Header
  /** Work up to it, as the peers say. */
  readonly chainWork: bigint
  readonly parts: PartList
}

/** Parts of a state, 41 bytes of memory each. */
export class PartList {
  readonly #bytes = new GrowingBytes()
  /** Bytes of all parts. */
  size = 0

  add(part: ListedPart): void {
    this.#bytes.add(listedPart.write(new Writer(listedSize), part).finish())
    this.size += part.length
  }

  get count(): number {
    return this.#bytes.length / listedSize
  }

  at(index: number): ListedPart {
    return listedPart.read(new Reader(this.#bytes.part(index * listedSize, (index + 1) * listedSize)))
  }

  get bytes(): Uint8Array {
    return this.#bytes.part(0, this.#bytes.length)
  }
}

export interface OfferChecking {
  readonly spec: Spec
  readonly verifier: Verifier
  readonly clock: Clock
  readonly log: Log
}

/**
 * Asks a peer for the state that it has, and checks what can be checked before any part: that a block of the chain's validators commits
 * to its coins. Undefined where it has none, or one that is too old. Rejects with a RuleError for one that cannot be, else as `ask`.
 */
export async function askForState(peer: SyncPeer, checking: OfferChecking): Promise<StateOffer | undefined> {
  const first = await peer.ask(stateListExchange, 0)
  if (first.head.length === 0) return undefined
  const head = await checkedHead(first, checking)
  const age = Math.floor((checking.clock.now() / 1000 - first.header.time) / 86_400)
  if (age >= oldestDays) {
    const { height } = first.header
    checking.log.warn(
      { peer: peer.name, height, days: age },
      `a peer has the state to which a block of ${age} days ago commits: none is taken that is older than ${oldestDays} days`,
    )
    return undefined
  }
  const parts = new PartList()
  let last: { readonly kind: number; readonly number: number } = { kind: partKind.head, number: 0 }
  for (let page = first; ; page = await peer.ask(stateListExchange, parts.count)) {
    if (!isSame(page, first)) return undefined
    if (parts.count + page.parts.length > first.total) throw wrongList(`more than ${first.total} parts`)
    for (const part of page.parts) {
      const isPart = follows(last, part) && part.kind < partKind.end && part.length > 0 && part.length <= maxPart
      if (!isPart) throw wrongList(`part ${part.kind}/${part.number} of ${part.length} bytes`)
      last = part
      parts.add(part)
    }
    if (parts.count === first.total) break
    // One by one they would keep the node waiting.
    if (page.parts.length < partsListed) throw wrongList(`${parts.count} of ${first.total} parts`)
  }
  const { header, chainWork, head: headBytes } = first
  const digest = runningSha256()
  digest.update(encodeHead({ ...head, confirm: new Uint8Array(0) }))
  digest.update(header.bytes)
  digest.update(Buffer.from(`${chainWork}`))
  digest.update(parts.bytes)
  return { id: toHex(digest.digest()), head, headBytes, header, chainWork, parts }
}

/** Whether two pages are of one list: a peer may have another state by now. */
function isSame(page: StateList, { head, header, total }: StateList): boolean {
  return equalBytes(page.head, head) && equalBytes(page.header.hash, header.hash) && page.total === total
}

async function checkedHead(list: StateList, { spec, verifier, clock }: OfferChecking): Promise<StateHead> {
  const { header, total } = list
  if (total > statePartsAtMost) throw wrongList(`${total} parts, at most ${statePartsAtMost}`)
  const head = headOf(list)
  const genesis: Hash = genesisBlock(spec).header.hash
  const { height, confirm } = head
  if (!equalBytes(head.genesis, genesis)) throw wrongList('it is of another chain')
  if (coinStateOf(spec, height + coinDepth) !== height) throw wrongList(`no block commits to the state of ${height}`)
  if (header.height !== height + coinDepth) throw wrongList(`block ${header.height} does not commit to it`)
  checkClock(spec, header, clock.now())
  if (spec.hasValidators) await runChecks(checkConfirm(spec, header, parseConfirm(confirm)), verifier)
  else if (confirm.length > 0) throw wrongList('a confirm on a chain of work')
  return head
}

function headOf({ head: bytes }: StateList): StateHead {
  try {
    const reader = new Reader(bytes)
    const head = readHead(reader)
    if (reader.remaining === 0) return head
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
  }
  throw wrongList('a head that is none')
}

function wrongList(reason: string): RuleError {
  return new RuleError('peer-state', `the list of a state: ${reason}`)
}
