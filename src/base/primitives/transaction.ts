/**
 * Reads and writes the bytes of the chain; this file does so for a transaction, the room also for blocks, confirms and the spec.
 *
 *   bytes, hex -> Transaction.fromBytes / kept -> readSteps    head and payload (transaction-parts), lists, programs
 *                                                 |
 *   fields     -> new Transaction -> serialise    v
 *                 Transaction: hash (txid), digest, toJSON -> consensus, mempool, storage, api
 *
 * Imports errors and runtime; used by every room except errors, runtime and config.
 * - The bytes received are the bytes sent on: nothing is encoded anew.
 * - `kept` copies: a long-lived transaction holds no larger buffer in memory.
 * - Decides what can be read; what a chain accepts is decided by consensus. Trailing bytes are an error.
 * - Pure: no clock, randomness, promise or I/O; long work is offered in steps.
 */
import { RuleError } from '../errors/rule-error.js'
import { displayHash, fromHex, mapKey, ofMapKey, ownCopy, toHex } from './bytes.js'
import { hexFault } from './hex-fault.js'
import type { Reader } from './codec.js'
import { CodecError, Writer } from './codec.js'
import { decodeAllSteps, listSteps, longListSteps } from './codec-steps.js'
import { type Hash, prefixHashSteps, sha256dKey } from './hash.js'
import { inputSize, readInput } from './input.js'
import { type Output, outputSteps, plainOutputSize, readPlainOutput, writeOutput } from './output.js'
import { type Payload, txType, writePayload } from './payload.js'
import type { ParsedProgram, Program } from './program.js'
import { ReadPart } from './read-part.js'
import { finish, noSteps, type Steps } from './steps.js'
import { type Attribute, attributeUsage, type Input, type TransactionFields } from './transaction-fields.js'
import { transactionJson, type TransactionJson } from './transaction-json.js'
import { headOrSteps } from './transaction-parts.js'

export { attributeUsage }

const knownUsages: readonly number[] = Object.values(attributeUsage)

/** @limit bytes: an attribute */
const attributeCap = 16 * 1024 * 1024
/** @limit bytes: code of a program */
const codeCap = 10_000
/** @limit bytes: parameter of a program */
const parameterCap = 20_000
/** @limit count: attributes, inputs, outputs or programs of a transaction */
const listCap = 0xffff
/** Bytes hashed in one step. */
const hashedAtOnce = 64 * 1024
/** Short transactions read in one step. */
const readAtOnce = 8
/** Outputs read in one step. */
const outputsAtOnce = 16

/** A transaction. Keeps its bytes as received, so that it is sent on unchanged (format 2). Members that are internal are for nodes, and in no published type. */
export class Transaction implements TransactionFields {
  readonly version: number
  readonly payloadVersion: number
  readonly payload: Payload
  readonly attributes: readonly Attribute[]
  readonly inputs: readonly Input[]
  readonly outputs: readonly Output[]
  readonly lockTime: number
  readonly programs: readonly Program[]
  /** The full serialisation, programs included. */
  readonly bytes: Uint8Array
  /** Length of {@link unsigned}. */
  readonly unsignedSize: number
  #unsigned: Uint8Array | undefined
  #cachedHash: Hash | undefined
  #hashKey: string | undefined
  #digestKey: string | undefined
  #parsed: (ParsedProgram | undefined)[] | undefined

  constructor(fields: TransactionFields, parsed?: Serialised) {
    this.version = fields.version
    this.payloadVersion = fields.payloadVersion
    this.payload = fields.payload
    this.attributes = fields.attributes
    this.inputs = fields.inputs
    this.outputs = fields.outputs
    this.lockTime = fields.lockTime
    this.programs = fields.programs
    const { bytes, unsignedSize } = parsed ?? serialise(fields)
    this.bytes = bytes
    this.unsignedSize = unsignedSize
  }

  /** Decodes exactly one transaction; `tx-malformed` for anything else, trailing bytes included. */
  static fromBytes(bytes: Uint8Array): Transaction {
    return finish(Transaction.fromBytesSteps(bytes))
  }

  /** {@link fromBytes} in steps. @internal */
  static fromBytesSteps(bytes: Uint8Array): Steps<Transaction> {
    const read = (reader: Reader) => Transaction.readSteps(reader)
    return decodeAllSteps(bytes, read, (reason) => new RuleError('tx-malformed', reason))
  }

  /** {@link fromBytes} of a copy, for long-lived transactions: it references no memory but its own. @internal */
  static kept(bytes: Uint8Array): Transaction {
    return finish(Transaction.keptSteps(bytes))
  }

  /** {@link kept} in steps. @internal */
  static *keptSteps(bytes: Uint8Array): Steps<Transaction> {
    const copy = ownCopy(bytes)
    yield
    const transaction = yield* Transaction.fromBytesSteps(copy)
    yield* transaction.hashSteps()
    transaction.#cachedHash = ownCopy(transaction.hash)
    return transaction
  }

  /** {@link fromBytes} of hex text. */
  static fromHex(text: string): Transaction {
    const bytes = fromHex(text)
    if (bytes === undefined) throw new RuleError('tx-malformed', `the text is not hex: ${hexFault(text)}`)
    return Transaction.fromBytes(bytes)
  }

  /** Reads one transaction at the reader's position, in steps; throws a CodecError. @internal */
  static *readSteps(reader: Reader): Steps<Transaction> {
    const [transaction] = yield* Transaction.readListSteps(reader, 1)
    return transaction as Transaction
  }

  /** Reads so many transactions at the reader's position, in steps; throws a CodecError. @internal */
  static *readListSteps(reader: Reader, count: number): Steps<Transaction[]> {
    const transactions: Transaction[] = []
    // One loop and not a generator for each: most transactions are short.
    while (transactions.length < count) {
      if (transactions.length % readAtOnce === readAtOnce - 1) yield
      const start = reader.offset
      const head = headOrSteps(reader)
      const { version, payloadVersion } = head
      const payload = 'type' in head.payload ? head.payload : yield* head.payload
      // For a short list, steps cost more than the work that they divide.
      const attributes = reader.small
        ? reader.list(listCap, 2, readAttribute)
        : yield* listSteps(reader, listCap, 2, readAttribute)
      const inputs = reader.small
        ? reader.list(listCap, inputSize, readInput)
        : yield* listSteps(reader, listCap, inputSize, readInput)
      const outputs =
        reader.small && version === 0
          ? reader.list(listCap, plainOutputSize, readPlainOutput)
          : yield* outputListSteps(reader, version)
      const lockTime = reader.u32()
      const unsignedSize = reader.offset - start
      const programs = reader.small
        ? reader.list(listCap, 2, readProgram)
        : yield* listSteps(reader, listCap, 2, readProgram)
      const bytes = reader.bytes.subarray(start, reader.offset)
      const fields = { version, payloadVersion, payload, attributes, inputs, outputs, lockTime, programs }
      transactions.push(new Transaction(fields, { bytes, unsignedSize }))
    }
    return transactions
  }

  /** Computes {@link hash} and {@link digestKey} of a long transaction, in steps. @internal */
  hashSteps(): Steps {
    return this.bytes.length > hashedAtOnce ? this.#longHashSteps() : noSteps
  }

  *#longHashSteps(): Steps {
    if (this.#hashKey !== undefined && this.#digestKey !== undefined) return
    const { prefix, whole } = yield* prefixHashSteps(this.bytes, this.unsignedSize)
    this.#hashKey = mapKey(prefix)
    this.#digestKey = mapKey(whole)
  }

  /** The part that signatures and the txid cover: everything before the programs. */
  get unsigned(): Uint8Array {
    return (this.#unsigned ??= this.bytes.subarray(0, this.unsignedSize))
  }

  get type(): Payload['type'] {
    return this.payload.type
  }

  /** sha256d of the unsigned part, internal order. */
  get hash(): Hash {
    return (this.#cachedHash ??= ofMapKey(this.hashKey))
  }

  /** `mapKey` of {@link hash}. @internal */
  get hashKey(): string {
    return (this.#hashKey ??= sha256dKey(this.bytes.subarray(0, this.unsignedSize)))
  }

  /** sha256d of the full bytes: distinguishes copies that differ only in their programs. */
  get digest(): Hash {
    return ofMapKey(this.digestKey)
  }

  /** `mapKey` of {@link digest}. @internal */
  get digestKey(): string {
    return (this.#digestKey ??= sha256dKey(this.bytes))
  }

  /** The transaction id in display hex. */
  get txid(): string {
    return displayHash(this.hash)
  }

  /** Place for what transaction-programs.ts parses of each program. @internal */
  get parsed(): (ParsedProgram | undefined)[] {
    return (this.#parsed ??= new Array<ParsedProgram | undefined>(this.programs.length))
  }

  /** Forgets what it can find again in its bytes: a block that is checked waits for its rows, and need not hold that. @internal */
  forget(): void {
    this.#parsed = undefined
    this.#unsigned = undefined
  }

  /** Whether work on each part of it needs no steps: 53 inputs, or 31 outputs, are the most. @internal */
  get isShort(): boolean {
    return this.bytes.length <= 2048
  }

  get isCoinbase(): boolean {
    return this.payload.type === txType.coinbase
  }

  toHex(): string {
    return toHex(this.bytes)
  }

  /** The REST shape of a transaction that is in no block: blockhash "" and 0 for confirmations, time, blocktime. */
  toJSON(): TransactionJson {
    return transactionJson(this)
  }
}

function outputListSteps(reader: Reader, version: number): Steps<Output[]> {
  const list = { max: listCap, size: plainOutputSize, together: outputsAtOnce }
  return longListSteps(reader, list, (from) => outputSteps(from, version))
}

function readProgram(reader: Reader): Program {
  return new ReadProgram(reader)
}

/** A program that was read. */
class ReadProgram extends ReadPart implements Program {
  readonly #parameterSize: number
  readonly #codeEnd: number
  readonly #codeSize: number

  constructor(reader: Reader) {
    const parameterSize = reader.varuint(parameterCap)
    const start = reader.offset
    super(reader, parameterSize)
    this.#parameterSize = parameterSize
    this.#codeSize = reader.varuint(codeCap)
    this.#codeEnd = reader.advance(this.#codeSize) + this.#codeSize - start
  }

  get parameter(): Uint8Array {
    return this.view(0, this.#parameterSize)
  }

  get code(): Uint8Array {
    return this.view(this.#codeEnd - this.#codeSize, this.#codeEnd)
  }
}

function readAttribute(reader: Reader): Attribute {
  return new ReadAttribute(reader)
}

/** An attribute that was read. */
class ReadAttribute extends ReadPart implements Attribute {
  readonly #usage: number
  readonly #size: number

  constructor(reader: Reader) {
    const usage = reader.u8()
    if (!knownUsages.includes(usage)) throw new CodecError(`attribute usage ${usage} is not known`)
    const size = reader.varuint(attributeCap)
    super(reader, size)
    this.#usage = usage
    this.#size = size
  }

  get usage(): number {
    return this.#usage
  }

  get data(): Uint8Array {
    return this.view(0, this.#size)
  }
}

/** A transaction's bytes. */
interface Serialised {
  readonly bytes: Uint8Array
  readonly unsignedSize: number
}

function serialise(fields: TransactionFields): Serialised {
  const writer = new Writer(512)
  if (fields.version !== 0) writer.u8(fields.version)
  writer.u8(fields.payload.type).u8(fields.payloadVersion)
  writePayload(writer, fields.payload, fields.payloadVersion)
  writer.list(fields.attributes, ({ usage, data }) => writer.u8(usage).varbytes(data))
  writer.list(fields.inputs, ({ txid, index, sequence }) => writer.bytes(txid).u16(index).u32(sequence))
  writer.list(fields.outputs, (output) => writeOutput(writer, output, fields.version))
  writer.u32(fields.lockTime)
  const unsignedSize = writer.finish().length
  writer.list(fields.programs, ({ parameter, code }) => writer.varbytes(parameter).varbytes(code))
  return { bytes: writer.finish(), unsignedSize }
}
