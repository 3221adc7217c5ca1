import type { Code } from '../../base/errors/error-codes.js'
import { littleEndianInteger, reversed } from '../../base/primitives/bytes.js'
import { fromHex } from '../../base/primitives/bytes.js'
import { CodecError } from '../../base/primitives/codec.js'
import * as form from '../../base/primitives/forms.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { codec, type Exchange } from './exchange.js'

/**
 * Protocol version. Nodes of different versions refuse each other: 2 accepts operations on credentials, for which nodes of 1
 * would refuse a block.
 */
export const networkVersion = 2

/**
 * Bits of {@link Status.services}: all blocks of its chain, or those since {@link recentBlocks} below its tip. One of them, or none.
 * `recentHeaders` beside the second one: headers of these blocks alone, too. `showsNothing`: its tip does not show the
 * receiver where the chain ends, since it lacks blocks that it knows of, or follows the receiver.
 */
export const services = { wholeChain: 1, recentBlocks: 2, recentHeaders: 4, showsNothing: 8 } as const
/**
 * A node keeps more of them: its status may be late, and a branch leaves the chain as far below as a reorganisation goes.
 * @tuning count: last blocks that a peer with `services.recentBlocks` hands out
 */
export const recentBlocks = 288

/** The part of a chain that the services of its node depend on. */
interface Chained {
  readonly prunes: boolean
  readonly prunedHeight: number
  readonly prunesDocuments: boolean
  readonly supersededHeight: number
  /** Absent where it is 0. */
  readonly joinedHeight?: number
  readonly tip: { readonly header: Pick<Header, 'height'> }
}

/** Bits of the services of a node with this chain. */
export function servicesOf(chain: Chained, showsChain = true): number {
  return offeredBy(chain) | (showsChain ? 0 : services.showsNothing)
}

/** Bits of what a node with this chain serves: none as long as it has too few blocks above a state that it took from others. */
function offeredBy(chain: Chained): number {
  const { joinedHeight = 0, tip } = chain
  if (!chain.prunes && !chain.prunesDocuments) return services.wholeChain
  // Blocks above have all of their transactions.
  const lacking = Math.max(chain.prunedHeight, chain.supersededHeight)
  const hasRecent = lacking === 0 || tip.header.height - lacking >= recentBlocks
  if (!hasRecent) return 0
  // A state comes without the proofs of the headers up to it.
  return joinedHeight > 0 ? services.recentBlocks | services.recentHeaders : services.recentBlocks
}

/** The members of a status that change while its node runs, and are told at once. */
export type Announced = Pick<Status, 'tipHash' | 'services'>

/** @limit bytes: status, or answer with one */
const statusBytes = 256
/** @limit ms: wait for the status of a peer */
const statusTimeout = 5_000
/** @limit bytes: program name in a status */
const agentBytes = 64

/** Status that a node sends of itself in the handshake and after. */
export interface Status {
  readonly version: number
  /** Hash of its genesis block. */
  readonly genesis: Hash
  /** Digest of the upgrades of its chain spec at or below its tip, 32 bytes. */
  readonly upgrades: Uint8Array
  readonly tipHeight: number
  readonly tipHash: Hash
  /** Work of the chain up to its tip. */
  readonly chainWork: bigint
  /** See {@link services}. */
  readonly services: number
  /** Whether it relays transactions. */
  readonly relay: boolean
  /** Listening port; 0 if it does not listen. */
  readonly listenPort: number
  /** Program and version: printable ASCII. */
  readonly agent: string
}

/** Reasons to refuse a connection. On the wire: index in this list from 1; the order never changes. */
const refusals = [
  'peer-version',
  'peer-genesis',
  'peer-upgrades',
  'peer-self',
  'peer-banned',
  'peer-crowded',
] as const satisfies readonly Code[]
export type Refusal = (typeof refusals)[number]

/** The answer to a status: the own status, and the refusal, if any. */
export interface StatusAnswer {
  readonly status: Status
  readonly refusal: Refusal | undefined
}

/** 32 bytes, little-endian. */
export const work: form.Form<bigint> = {
  write: (writer, value) => writer.bytes(reversed(fromHex(value.toString(16).padStart(64, '0')) as Uint8Array)),
  read: (reader) => littleEndianInteger(reader.take(32)),
}
const isPrintable = (text: string) => /^[\x20-\x7e]*$/.test(text)
const status = form.record<Status>({
  version: form.u32,
  genesis: form.hash,
  upgrades: form.bytes(32),
  tipHeight: form.u32,
  tipHash: form.hash,
  chainWork: work,
  services: form.u32,
  relay: form.flag,
  listenPort: form.u16,
  agent: form.where(form.varstring(agentBytes), isPrintable, 'the name of the program is not printable ASCII'),
})
const refusal: form.Form<Refusal | undefined> = {
  write: (writer, code) => writer.u8(code === undefined ? 0 : refusals.indexOf(code) + 1),
  read: (reader) => {
    const number = reader.u8()
    if (number > refusals.length) throw new CodecError(`there is no refusal ${number}`)
    return refusals[number - 1]
  },
}

/**
 * The handshake: first request on a connection, sent by the dialling node; repeated by both nodes on a new tip. Its id does
 * not contain the chain, so that nodes of different chains can exchange the reason of a refusal.
 */
export const statusExchange: Exchange<Status, StatusAnswer> = {
  protocol: {
    name: 'status',
    version: 1,
    ofChain: false,
    request: statusBytes,
    answer: statusBytes,
    timeout: statusTimeout,
  },
  question: codec(status),
  answer: codec(form.record<StatusAnswer>({ status, refusal })),
}
