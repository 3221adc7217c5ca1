import type { ProgramHash } from './address.js'
import { mapKey } from './bytes.js'
import { CodecError, type Reader, type Writer } from './codec.js'
import { countOf } from './codec-steps.js'
import { ReadPart } from './read-part.js'
import type { Steps } from './steps.js'

/** A transaction output (format 2.1). */
export interface Output {
  /** 32 bytes, internal order. */
  readonly assetId: Uint8Array
  readonly value: bigint
  /** Height that a spender's lockTime must reach; 0 is no lock. */
  readonly outputLock: number
  readonly programHash: ProgramHash
  /** Version 9 outputs carry a typed extra; undefined in version 0. */
  readonly extra?: OutputExtra
}

/** The typed extra of a version 9 output, kept as the bytes after its type (format 2.8). */
export interface OutputExtra {
  readonly type: number
  readonly payload: Uint8Array
}

/** @limit bytes: a text of an output payload */
const stringCap = 16 * 1024 * 1024
/** @limit bytes: a byte string of an output payload */
const bytesCap = 1024 * 1024

/** Reads past the payload of one output type; for votes see {@link skipVotes}. */
const skippers: Readonly<Record<number, (reader: Reader) => void>> = {
  0: () => {},
  2: (r) => {
    r.u8()
    r.varbytes(33)
    r.varbytes(256)
    r.varbytes(64)
  },
  3: (r) => {
    r.u8()
    r.varstring(stringCap)
    r.i64()
    r.varbytes(1024)
  },
  4: (r) => {
    r.u8()
    r.varstring(stringCap)
    r.hash()
    r.varbytes(bytesCap)
  },
  5: (r) => {
    r.u8()
    r.varstring(stringCap)
    r.hash()
  },
  7: (r) => {
    r.u8()
    r.take(21)
  },
}

/** Output types that hold votes. */
const voteTypes: readonly number[] = [1, 6]
/** Candidates skipped in one step. */
const votesAtOnce = 64

/** Skips the votes of an output and builds nothing: a megabyte may hold a million candidates. */
function* skipVotes(reader: Reader): Steps {
  const version = reader.u8()
  for (let contents = countOf(reader, 0xffff, 2); contents > 0; contents--) {
    reader.u8()
    for (let candidates = countOf(reader, 0xffff, 1); candidates > 0; candidates--) {
      reader.varbytes(bytesCap)
      if (version >= 1) reader.i64()
      if (candidates % votesAtOnce === 0) yield
    }
    yield
  }
}

/** Bytes of an output without a typed extra: asset id, value i64, lock u32, program hash. */
export const plainOutputSize = 65

/** An output that was read; what a coin takes of it is made once. */
class ReadOutput extends ReadPart implements Output {
  #value: bigint | undefined
  #owner: string | undefined

  constructor(reader: Reader) {
    super(reader, plainOutputSize)
  }

  get assetId(): Uint8Array {
    return this.view(0, 32)
  }

  get value(): bigint {
    return (this.#value ??= this.i64(32))
  }

  get outputLock(): number {
    return this.u32(40)
  }

  get programHash(): ProgramHash {
    return this.view(44, plainOutputSize)
  }

  static ownerOf(output: ReadOutput): string {
    return (output.#owner ??= output.text(44, plainOutputSize))
  }
}

/** `mapKey` of the program hash of an output. */
export function ownerOf(output: Output): string {
  return output instanceof ReadOutput ? ReadOutput.ownerOf(output) : mapKey(output.programHash)
}

/** One of version 9. */
class ReadTypedOutput extends ReadOutput {
  #extra: OutputExtra | undefined

  get extra(): OutputExtra {
    return this.#extra as OutputExtra
  }

  static typed(output: ReadTypedOutput, extra: OutputExtra): Output {
    output.#extra = extra
    return output
  }
}

/** Reads an output without a typed extra. */
export function readPlainOutput(reader: Reader): Output {
  return new ReadOutput(reader)
}

/** Reads an output of a transaction of this version; in steps, because votes may be many. */
export function* outputSteps(reader: Reader, version: number): Steps<Output> {
  if (version < 9) return readPlainOutput(reader)
  const output = new ReadTypedOutput(reader)
  const type = reader.u8()
  const start = reader.offset
  if (voteTypes.includes(type)) yield* skipVotes(reader)
  else {
    const skip = skippers[type]
    if (skip === undefined) throw new CodecError(`output type ${type} is not known`)
    skip(reader)
  }
  return ReadTypedOutput.typed(output, { type, payload: reader.bytes.subarray(start, reader.offset) })
}

/** Writes an output of a transaction of this version; a TypeError if its typed extra does not fit the version. */
export function writeOutput(writer: Writer, output: Output, version: number): void {
  if (version >= 9 !== (output.extra !== undefined)) {
    throw new TypeError('an output has a typed extra in version 9, and only there')
  }
  writer.bytes(output.assetId).i64(output.value).u32(output.outputLock).bytes(output.programHash)
  if (output.extra !== undefined) writer.u8(output.extra.type).bytes(output.extra.payload)
}
