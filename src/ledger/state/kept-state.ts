import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { equalBytes } from '../../base/primitives/bytes.js'
import { Reader } from '../../base/primitives/codec.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { ListedPart } from './listed-part.js'
import { frameSize, partKind, readFrame, stateMagic } from './parts.js'
import { readHead } from './state-head.js'

/** A part in a file. */
interface FiledPart extends ListedPart {
  /** Place of its bytes in the file. */
  readonly at: number
  /** Whether its bytes were found to have its hash. */
  isRight: boolean
}

/** A whole file of a state that this node wrote, open for peers. */
export class KeptState {
  readonly #file: FileHandle
  /** Bytes of the head. */
  readonly head: Uint8Array
  /** Height of the state. */
  readonly height: number
  readonly #parts: readonly FiledPart[]

  private constructor(file: FileHandle, head: Uint8Array, parts: readonly FiledPart[]) {
    this.#file = file
    this.head = head
    this.height = readHead(new Reader(head)).height
    this.#parts = parts
  }

  /** Opens a file; rejects where it is not whole. The bytes of a part are looked at when they are first read. */
  static async open(path: string): Promise<KeptState> {
    const file = await open(path, 'r')
    try {
      const places: Omit<FiledPart, 'hash'>[] = []
      let at = stateMagic.length
      for (;;) {
        const { kind, number, length } = readFrame(await bytesAt(file, at, frameSize))
        places.push({ kind, number, length, at: at + frameSize, isRight: false })
        at += frameSize + length
        if (kind === partKind.end) break
      }
      const end = places.pop() as Omit<FiledPart, 'hash'>
      const list = await bytesAt(file, end.at, end.length)
      const parts = places.map((place, i) => ({ ...place, hash: list.subarray(i * 37 + 5, (i + 1) * 37) }))
      const [first, ...others] = parts
      if (first?.kind !== partKind.head) throw new Error('it does not begin with a head')
      return new KeptState(file, await bytesAt(file, first.at, first.length), others)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** Its parts behind the head, from a place in their list on. */
  list(from: number, most: number): readonly ListedPart[] {
    const some = this.#parts.slice(from, from + most)
    return some.map(({ kind, number, length, hash }) => ({ kind, number, length, hash }))
  }

  /** Number of parts behind the head. */
  get total(): number {
    return this.#parts.length
  }

  /** Bytes of a part from a place on, at most so many; none behind its end. Rejects where the file is damaged. */
  async read(index: number, from: number, most: number): Promise<Uint8Array> {
    const part = this.#parts[index]
    if (part === undefined || from >= part.length) return new Uint8Array(0)
    if (!part.isRight) await this.#check(part)
    return bytesAt(this.#file, part.at + from, Math.min(most, part.length - from))
  }

  async #check(part: FiledPart): Promise<void> {
    const hash: Hash = createHash('sha256')
      .update(await bytesAt(this.#file, part.at, part.length))
      .digest()
    if (!equalBytes(hash, part.hash)) throw new Error(`part ${part.number} of kind ${part.kind} is damaged`)
    part.isRight = true
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await file.read(bytes, 0, length, at)
  if (bytesRead < length) throw new Error('it ends too early')
  return bytes
}
