import type { Code } from '../../base/errors/error-codes.js'
import { littleEndianInteger, reversed } from '../../base/primitives/bytes.js'
import { fromHex } from '../../base/primitives/bytes.js'
import { CodecError, type Reader, type Writer } from '../../base/primitives/codec.js'
import type { Hash } from '../../base/primitives/hash.js'
import { codec, type Exchange } from './exchange.js'

/**
 * Protocol version. Nodes of different versions refuse each other: 2 accepts operations on credentials, for which nodes of 1
 * would refuse a block.
 */
export const networkVersion = 2

/** Bits of {@link Status.services}: all blocks of its chain, or those since {@link recentBlocks} below its tip. One of them, or none. */
export const services = { wholeChain: 1, recentBlocks: 2 } as const
/**
 * A node keeps more of them: its status may be late, and a branch leaves the chain as far below as a reorganisation goes.
 * @tuning count: last blocks that a peer with `services.recentBlocks` hands out
 */
export const recentBlocks = 288

/** Bits of the services of a node with this chain. */
export function servicesOf({ prunes }: { readonly prunes: boolean }): number {
  return prunes ? services.recentBlocks : services.wholeChain
}

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
  question: codec(writeStatus, readStatus),
  answer: codec(
    (writer, { status, refusal }) =>
      writeStatus(writer, status).u8(refusal === undefined ? 0 : refusals.indexOf(refusal) + 1),
    (reader) => ({ status: readStatus(reader), refusal: readRefusal(reader) }),
  ),
}

function writeStatus(writer: Writer, status: Status): Writer {
  return writer
    .u32(status.version)
    .bytes(status.genesis)
    .bytes(status.upgrades)
    .u32(status.tipHeight)
    .bytes(status.tipHash)
    .bytes(workBytes(status.chainWork))
    .u32(status.services)
    .u8(status.relay ? 1 : 0)
    .u16(status.listenPort)
    .varstring(status.agent)
}

function readStatus(reader: Reader): Status {
  return {
    version: reader.u32(),
    genesis: reader.hash(),
    upgrades: reader.take(32),
    tipHeight: reader.u32(),
    tipHash: reader.hash(),
    chainWork: littleEndianInteger(reader.take(32)),
    services: reader.u32(),
    relay: readFlag(reader),
    listenPort: reader.u16(),
    agent: readAgent(reader),
  }
}

function readFlag(reader: Reader): boolean {
  const flag = reader.u8()
  if (flag > 1) throw new CodecError('a flag is neither 0 nor 1')
  return flag === 1
}

function readAgent(reader: Reader): string {
  const agent = reader.varstring(agentBytes)
  if (!/^[\x20-\x7e]*$/.test(agent)) throw new CodecError('the name of the program is not printable ASCII')
  return agent
}

function readRefusal(reader: Reader): Refusal | undefined {
  const number = reader.u8()
  if (number > refusals.length) throw new CodecError(`there is no refusal ${number}`)
  return refusals[number - 1]
}

/** 32 bytes, little-endian. */
function workBytes(work: bigint): Uint8Array {
  return reversed(fromHex(work.toString(16).padStart(64, '0')) as Uint8Array)
}
