import type { Coin } from '../../consensus/ledger.js'
import type { ProgramHash } from '../../../base/primitives/address.js'
import { concat } from '../../../base/primitives/bytes.js'
import { Reader, Writer } from '../../../base/primitives/codec.js'
import type { OperationNumber } from '../../../base/primitives/did-operation.js'
import { eachSteps, finish, type Steps } from '../../../base/primitives/steps.js'
import type { MapKey } from '../../../identity/proofs/map-tree.js'
import { coin, coinSize } from './coin-tables.js'
import type { Codec } from './layout.js'

/** Undo records, and parts of them, read without building the rest: a full block spends a hundred thousand coins. */

/** The data to undo a block. */
export interface UndoRecord {
  /** For each transaction after the coinbase, the coins it spent in input order. */
  readonly spent: readonly (readonly Coin[])[]
  /** DIDs whose last operation is in this block, once per operation, in block order. */
  readonly dids: readonly ProgramHash[]
  /** Its declares and revokes, in block order. */
  readonly credentials: readonly CredentialUndo[]
  /** Side chains of which it has a proof of work later than all before, in block order. */
  readonly sideChains: readonly SideChainUndo[]
}

/** A declare or revoke to take back. */
export interface CredentialUndo {
  readonly operation: OperationNumber
  readonly key: MapKey
  readonly holder: ProgramHash
}

/** Height proved of a side chain before a proof; undefined: none. */
export interface SideChainUndo {
  readonly genesis: Uint8Array
  readonly before: number | undefined
}

/** Height of no side block: a rule keeps them below 2^29. */
const unproved = 0xffffffff

/** @tuning count: transactions of a block, inputs of a transaction, or operations of a block, in an undo record */
const listCap = 0xffff
/** Bytes of a DID in an undo record. */
const didSize = 21
/** Coins written in one step. */
const coinsAtOnce = 16
/** Coins, or transactions that are passed over, read in one step. */
const atOnce = 64

export const undoRecord: Codec<UndoRecord> = {
  encode: (record) => finish(undoSteps(record)),
  decode: (bytes) => {
    const reader = new Reader(bytes)
    const spent = reader.list(listCap, 1, () => reader.list(listCap, coinSize, coin.read))
    const dids = reader.list(listCap, didSize, () => reader.take(didSize))
    const rest = <T>(size: number, item: () => T) => (reader.remaining === 0 ? [] : reader.list(listCap, size, item))
    const credentials = rest(54, () => {
      return { operation: reader.u8() as OperationNumber, key: reader.take(32), holder: reader.take(21) }
    })
    const sideChains = rest(36, () => {
      const [genesis, before] = [reader.take(32), reader.u32()]
      return { genesis, before: before === unproved ? undefined : before }
    })
    return { spent, dids, credentials, sideChains }
  },
}

/** Encodes an undo record in steps. */
export function* undoSteps({ spent, dids, credentials, sideChains }: UndoRecord): Steps<Uint8Array> {
  const writer = new Writer(1024).varuint(spent.length)
  for (let i = 0; i < spent.length; i++) {
    const coins = spent[i] as readonly Coin[]
    writer.varuint(coins.length)
    yield* eachSteps(coins, (one) => coin.write(writer, one), coinsAtOnce)
    if (i % coinsAtOnce === coinsAtOnce - 1) yield
  }
  writer.list(dids, (did) => writer.bytes(did))
  // Blocks without credential operations, or without proofs of side chains, keep the bytes that they had before there were any.
  if (credentials.length + sideChains.length > 0) {
    writer.list(credentials, ({ operation, key, holder }) => writer.u8(operation).bytes(key).bytes(holder))
  }
  if (sideChains.length > 0) {
    writer.list(sideChains, ({ genesis, before = unproved }) => writer.bytes(genesis).u32(before))
  }
  return writer.finish()
}

/** Calls `take` with every coin that the transactions at the `wanted` positions of a block spent, in steps. */
export function* spentSteps(
  undo: Uint8Array,
  wanted: ReadonlySet<number>,
  take: (index: number, coin: Coin) => void,
): Steps {
  const reader = new Reader(undo)
  const spenders = reader.varuint(listCap)
  for (let index = 1; index <= spenders; index++) {
    const coins = reader.varuint(listCap)
    if (index % atOnce === 0) yield
    if (!wanted.has(index)) {
      reader.take(coins * coinSize)
      continue
    }
    for (let i = 1; i <= coins; i++) {
      take(index, coin.read(reader))
      if (i % atOnce === 0) yield
    }
  }
}

/** The record of a block without the coins that its transactions spent, in steps. */
export function* withoutCoinsSteps(undo: Uint8Array): Steps<Uint8Array> {
  const reader = new Reader(undo)
  yield* passCoinsSteps(reader)
  return concat(new Writer(1).varuint(0).finish(), reader.take(reader.remaining))
}

/** The DIDs of the operations of a block, once per operation, in block order, in steps. */
export function* didsOfSteps(undo: Uint8Array): Steps<readonly ProgramHash[]> {
  const reader = new Reader(undo)
  yield* passCoinsSteps(reader)
  return reader.list(listCap, didSize, () => reader.take(didSize))
}

/** The number of operations of a block, on DIDs and on credentials, in steps. */
export function* operationCountSteps(undo: Uint8Array): Steps<number> {
  const reader = new Reader(undo)
  yield* passCoinsSteps(reader)
  const onDids = reader.varuint(listCap)
  reader.take(onDids * didSize)
  return reader.remaining === 0 ? onDids : onDids + reader.varuint(listCap)
}

function* passCoinsSteps(reader: Reader): Steps {
  const spenders = reader.varuint(listCap)
  for (let index = 1; index <= spenders; index++) {
    reader.take(reader.varuint(listCap) * coinSize)
    if (index % atOnce === 0) yield
  }
}
