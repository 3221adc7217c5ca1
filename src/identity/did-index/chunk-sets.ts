/**
 * Sets of postings and of documents within one chunk of 256 ordinals. Documents are 8 words of 32 bits; postings are ascending
 * u16s as in posting-chunk.ts.
 */

/** Documents of a chunk: bit n of the set is ordinal n of the chunk. */
export type DocumentSet = Uint32Array

const words = 8
const nothing = new Uint16Array(0)

export function noDocuments(): DocumentSet {
  return new Uint32Array(words)
}

/** The documents of postings, whatever their elements. */
export function documentsOf(postings: Uint16Array): DocumentSet {
  const set = noDocuments()
  for (let i = 0; i < postings.length; i++) {
    const ordinal = (postings[i] as number) >> 8
    set[ordinal >> 5] = (set[ordinal >> 5] as number) | (1 << (ordinal & 31))
  }
  return set
}

export function oneDocument(ordinal: number): DocumentSet {
  return documentsOf(Uint16Array.of((ordinal & 255) << 8))
}

export function hasDocument(set: DocumentSet, ordinal: number): boolean {
  return (((set[(ordinal & 255) >> 5] as number) >>> (ordinal & 31)) & 1) === 1
}

export function bothDocuments(a: DocumentSet, b: DocumentSet): DocumentSet {
  return a.map((word, i) => word & (b[i] as number))
}

export function eitherDocuments(a: DocumentSet, b: DocumentSet): DocumentSet {
  return a.map((word, i) => word | (b[i] as number))
}

/** The documents of `a` that are not in `b`. */
export function exceptDocuments(a: DocumentSet, b: DocumentSet): DocumentSet {
  return a.map((word, i) => word & ~(b[i] as number))
}

export function countDocuments(set: DocumentSet): number {
  return countBits(set)
}

function countBits(bits: Uint32Array): number {
  let count = 0
  for (let i = 0; i < bits.length; i++) {
    let word = bits[i] as number
    word -= (word >>> 1) & 0x55555555
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
    count += (((word + (word >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24
  }
  return count
}

/** Ordinals within the chunk, ascending. */
export function* ordinalsOf(set: DocumentSet): Generator<number, void> {
  for (let i = 0; i < words; i++) {
    for (let word = set[i] as number; word !== 0; word &= word - 1) yield i * 32 + 31 - Math.clz32(word & -word)
  }
}

/** Postings that are in both. */
export function bothPostings(a: Uint16Array, b: Uint16Array): Uint16Array {
  if (a.length === 0 || b.length === 0) return nothing
  const both = new Uint16Array(Math.min(a.length, b.length))
  let count = 0
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [x, y] = [a[i] as number, b[j] as number]
    if (x === y) both[count++] = x
    if (x <= y) i++
    if (y <= x) j++
  }
  return both.subarray(0, count)
}

/** Postings that are in one of the two. */
export function eitherPostings(a: Uint16Array, b: Uint16Array): Uint16Array {
  const union = new PostingUnion()
  union.add(a)
  union.add(b)
  return union.postings
}

/** Unites any number of lists of postings, each at the cost of its length: all postings of a chunk are a set of 65,536 bits. */
export class PostingUnion {
  /** The only list so far, until another one is added. */
  #only: Uint16Array = nothing
  #bits: Uint32Array | undefined

  add(postings: Uint16Array): void {
    if (postings.length === 0) return
    if (this.#bits === undefined && this.#only.length === 0) {
      this.#only = postings
      return
    }
    if (this.#bits === undefined) {
      this.#bits = new Uint32Array(postingWords)
      setBits(this.#bits, this.#only)
    }
    setBits(this.#bits, postings)
  }

  get postings(): Uint16Array {
    return this.#bits === undefined ? this.#only : postingsOfBits(this.#bits)
  }
}

/** Words of 32 bits for all postings of a chunk. */
const postingWords = 0x10000 / 32

function setBits(bits: Uint32Array, postings: Uint16Array): void {
  for (let i = 0; i < postings.length; i++) {
    const posting = postings[i] as number
    bits[posting >> 5] = (bits[posting >> 5] as number) | (1 << (posting & 31))
  }
}

function postingsOfBits(bits: Uint32Array): Uint16Array {
  const postings = new Uint16Array(countBits(bits))
  let count = 0
  for (let i = 0; i < bits.length; i++) {
    for (let word = bits[i] as number; word !== 0; word &= word - 1) {
      postings[count++] = i * 32 + 31 - Math.clz32(word & -word)
    }
  }
  return postings
}

/** Postings of some documents alone. */
export function postingsWithin(postings: Uint16Array, documents: DocumentSet): Uint16Array {
  return postings.filter((posting) => hasDocument(documents, posting >> 8))
}
