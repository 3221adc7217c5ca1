import { formatAmount } from './amount.js'
import { anyUtf8, displayHash, reversed, toHex } from './bytes.js'
import { CodecError, type Reader, type Writer } from './codec.js'
import { lateTextSteps, listSteps, longListSteps, varstringSteps } from './codec-steps.js'
import { type DidOperation, operationForm, operationJson } from './did-operation.js'
import { inspect } from './read-part.js'
import { type Steps } from './steps.js'

/** Transaction types that this chain decodes (format 3.1). Consensus decides which of them it accepts. */
export const txType = {
  coinbase: 0,
  registerAsset: 1,
  transfer: 2,
  record: 3,
  sideChainPow: 5,
  recharge: 6,
  withdraw: 7,
  crossChainTransfer: 8,
  did: 10,
} as const

export interface RegisterAsset {
  readonly name: string
  readonly description: string
  readonly precision: number
  readonly assetType: number
  readonly recordType: number
  readonly amount: bigint
  /** 21-byte program hash. */
  readonly controller: Uint8Array
}

export interface SideChainPow {
  readonly sideBlockHash: Uint8Array
  readonly sideGenesisHash: Uint8Array
  readonly blockHeight: number
  /** 64-byte signature over the three fields before it. */
  readonly signedData: Uint8Array
}

export type Payload =
  | { readonly type: 0; readonly data: Uint8Array }
  | ({ readonly type: 1 } & RegisterAsset)
  | { readonly type: 2 }
  | { readonly type: 3; readonly recordType: string; readonly content: Uint8Array }
  | ({ readonly type: 5 } & SideChainPow)
  | {
      readonly type: 6
      readonly merkleProof: Uint8Array
      readonly mainChainTransaction: Uint8Array
      readonly mainChainTxHash?: Uint8Array
    }
  | {
      readonly type: 7
      readonly blockHeight: number
      readonly genesisBlockAddress: string
      readonly sideTransactionHashes: readonly Uint8Array[]
      readonly signers: readonly number[]
    }
  | { readonly type: 8; readonly assets: readonly { address: string; index: number; amount: bigint }[] }
  | { readonly type: 10; readonly operation: DidOperation }

/** @limit bytes: a text of a payload */
const stringCap = 16 * 1024 * 1024
/** @limit bytes: a byte string of a payload */
const bytesCap = 1024 * 1024
/** @limit count: a list of a payload */
const countCap = 0xffff

/** The layout of one payload type: read, write, JSON. */
interface PayloadCodec<T extends Payload['type']> {
  /** Written without a version byte before the type, at transaction version 0 alone. */
  readonly withoutVersion?: true
  /** In steps if it may hold long texts or lists. */
  read(reader: Reader, version: number): Extract<Payload, { type: T }> | Steps<Extract<Payload, { type: T }>>
  write(writer: Writer, payload: Extract<Payload, { type: T }>, version: number): void
  json(payload: Extract<Payload, { type: T }>, version: number): unknown
}

const empty = new Uint8Array(0)

function unknownVersion(version: number): never {
  throw new CodecError(`payload version ${version} is not known for this type`)
}

/** A text, read in one step unless it is long. */
function* text(reader: Reader): Steps<string> {
  return reader.small ? reader.varstring(stringCap) : yield* varstringSteps(reader, stringCap)
}

function* assetSteps(reader: Reader): Steps<{ address: string; index: number; amount: bigint }> {
  return { address: yield* varstringSteps(reader, stringCap), index: reader.varuint(0xffffffff), amount: reader.i64() }
}

/** Makes `console.log` show the payload of an operation too. */
const showsTexts = {
  value(this: DidOperation): DidOperation {
    return { ...this }
  },
}

/** One for all: it holds nothing. */
const transfer = { type: 2 } as const

const codecs: { [T in Payload['type']]: PayloadCodec<T> } = {
  0: {
    read: (r) => ({ type: 0, data: r.varbytes(bytesCap) }),
    write: (w, p) => w.varbytes(p.data),
    json: (p) => ({ CoinbaseData: anyUtf8(p.data) }),
  },
  1: {
    *read(r) {
      return {
        type: 1,
        name: yield* varstringSteps(r, stringCap),
        description: yield* varstringSteps(r, stringCap),
        precision: r.u8(),
        assetType: r.u8(),
        recordType: r.u8(),
        amount: r.i64(),
        controller: r.take(21),
      }
    },
    write: (w, p) =>
      w
        .varstring(p.name)
        .varstring(p.description)
        .u8(p.precision)
        .u8(p.assetType)
        .u8(p.recordType)
        .i64(p.amount)
        .bytes(p.controller),
    json: (p) => ({
      Asset: assetJson(p),
      Amount: formatAmount(p.amount),
      Controller: toHex(reversed(p.controller)),
    }),
  },
  2: {
    read: () => transfer,
    write: () => {},
    json: () => ({}),
  },
  3: {
    *read(r) {
      return { type: 3, recordType: yield* text(r), content: r.varbytes(bytesCap) }
    },
    write: (w, p) => w.varstring(p.recordType).varbytes(p.content),
    json: (p) => ({ Type: p.recordType, Content: toHex(p.content) }),
  },
  5: {
    read: (r) => ({
      type: 5,
      sideBlockHash: r.hash(),
      sideGenesisHash: r.hash(),
      blockHeight: r.u32(),
      signedData: r.fixedbytes(64),
    }),
    write: (w, p) => w.bytes(p.sideBlockHash).bytes(p.sideGenesisHash).u32(p.blockHeight).varbytes(p.signedData),
    // These hashes are printed in internal order, unlike all others (format 1.5).
    json: (p) => ({
      BlockHeight: p.blockHeight,
      SideBlockHash: toHex(p.sideBlockHash),
      SideGenesisHash: toHex(p.sideGenesisHash),
      SignedData: toHex(p.signedData),
    }),
  },
  6: {
    read: (r, version) => {
      if (version === 0) {
        return { type: 6, merkleProof: r.varbytes(bytesCap), mainChainTransaction: r.varbytes(bytesCap) }
      }
      if (version !== 1) unknownVersion(version)
      return { type: 6, merkleProof: empty, mainChainTransaction: empty, mainChainTxHash: r.hash() }
    },
    write: (w, p) => {
      if (p.mainChainTxHash !== undefined) w.bytes(p.mainChainTxHash)
      else w.varbytes(p.merkleProof).varbytes(p.mainChainTransaction)
    },
    json: (p) =>
      p.mainChainTxHash !== undefined
        ? { mainchaintxhash: displayHash(p.mainChainTxHash) }
        : { Proof: toHex(p.merkleProof), MainChainTransaction: toHex(p.mainChainTransaction) },
  },
  7: {
    *read(r, version) {
      if (version > 2) unknownVersion(version)
      return {
        type: 7,
        blockHeight: version === 0 ? r.u32() : 0,
        genesisBlockAddress: version === 0 ? yield* varstringSteps(r, stringCap) : '',
        sideTransactionHashes: version === 0 ? yield* listSteps(r, countCap, 32, () => r.hash()) : [],
        signers: version === 2 ? yield* listSteps(r, countCap, 1, () => r.u8()) : [],
      }
    },
    write: (w, p, version) => {
      if (version === 0) {
        w.u32(p.blockHeight)
          .varstring(p.genesisBlockAddress)
          .list(p.sideTransactionHashes, (hash) => w.bytes(hash))
      }
      if (version === 2) w.list(p.signers, (signer) => w.u8(signer))
    },
    json: (p, version) =>
      version === 0
        ? {
            BlockHeight: p.blockHeight,
            GenesisBlockAddress: p.genesisBlockAddress,
            // Internal order, like the side-chain hashes of type 5.
            SideChainTransactionHashes: p.sideTransactionHashes.map(toHex),
          }
        : version === 2
          ? { Signers: [...p.signers] }
          : {},
  },
  8: {
    *read(r, version) {
      if (version > 1) unknownVersion(version)
      if (version === 1) return { type: 8, assets: [] }
      return { type: 8, assets: yield* longListSteps(r, { max: countCap, size: 10, together: 1 }, assetSteps) }
    },
    write: (w, p, version) => {
      if (version === 1) return
      w.list(p.assets, ({ address, index, amount }) => w.varstring(address).varuint(index).i64(amount))
    },
    // The amounts are raw integers here, unlike everywhere else (format 3.3).
    json: (p) => ({
      CrossChainAddresses: p.assets.map(({ address }) => address),
      OutputIndexes: p.assets.map(({ index }) => index),
      CrossChainAmounts: p.assets.map(({ amount }) => Number(amount)),
    }),
  },
  10: {
    withoutVersion: true,
    *read(r) {
      const specification = r.small ? r.varstring(stringCap) : yield* text(r)
      const operation = r.small ? r.varstring(stringCap) : yield* text(r)
      const previousTxid = operationForm({ operation })?.previousTxid ? yield* text(r) : undefined
      const ticket = operationForm({ operation })?.ticket ? yield* text(r) : undefined
      const payload = yield* lateTextSteps(r, stringCap)
      const read = {
        specification,
        operation,
        ...(previousTxid === undefined ? {} : { previousTxid }),
        ...(ticket === undefined ? {} : { ticket }),
        // Mostly a document, which as a text would take as much memory again while the transaction waits.
        get payload() {
          return payload()
        },
        proofType: r.small ? r.varstring(stringCap) : yield* text(r),
        verificationMethod: r.small ? r.varstring(stringCap) : yield* text(r),
        signature: r.small ? r.varstring(stringCap) : yield* text(r),
      }
      return { type: 10, operation: Object.defineProperty(read, inspect, showsTexts) }
    },
    write: (w, { operation: o }) => {
      w.varstring(o.specification).varstring(o.operation)
      if (operationForm(o)?.previousTxid) w.varstring(o.previousTxid ?? '')
      if (operationForm(o)?.ticket) w.varstring(o.ticket ?? '')
      w.varstring(o.payload).varstring(o.proofType).varstring(o.verificationMethod).varstring(o.signature)
    },
    json: (p) => operationJson(p.operation),
  },
}

/** Throws a CodecError for a type that no payload has. */
export function requireType(type: number): asserts type is Payload['type'] {
  codecOf(type)
}

function codecOf(type: number): PayloadCodec<Payload['type']> {
  const codec = codecs[type as Payload['type']] as PayloadCodec<Payload['type']> | undefined
  if (codec === undefined) throw new CodecError(`transaction type ${type} is not known`)
  return codec
}

/** The payload text of an operation whose other texts it skips: bytes in the memory of the reader. */
export function operationPayload(reader: Reader): Uint8Array {
  reader.varbytes(stringCap)
  const operation = reader.varstring(stringCap)
  const form = operationForm({ operation })
  if (form?.previousTxid) reader.varbytes(stringCap)
  if (form?.ticket) reader.varbytes(stringCap)
  return reader.varbytes(stringCap)
}

/** Throws a CodecError for a type that does not exist at a transaction version. */
export function requireVersion(type: number, version: number): void {
  const codec: { readonly withoutVersion?: true } | undefined = codecs[type as Payload['type']]
  if (version === 9 && codec?.withoutVersion) throw new CodecError(`type ${type} has no version byte`)
}

/** The payload of a type that is read in one step, or the steps that read it. */
export function payloadOrSteps(reader: Reader, type: number, version: number): Payload | Steps<Payload> {
  return codecOf(type).read(reader, version)
}

export function writePayload(writer: Writer, payload: Payload, version: number): void {
  codecOf(payload.type).write(writer, payload, version)
}

/** The `payload` member of a transaction in JSON; never null (format 3.3). */
export function payloadJson(payload: Payload, version: number): unknown {
  return codecOf(payload.type).json(payload, version)
}

/** The asset object of the REST interface. */
export function assetJson(asset: Omit<RegisterAsset, 'amount' | 'controller'>): Record<string, unknown> {
  return {
    Name: asset.name,
    Description: asset.description,
    Precision: asset.precision,
    AssetType: asset.assetType,
    RecordType: asset.recordType,
  }
}
