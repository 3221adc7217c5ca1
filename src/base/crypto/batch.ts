import type { SignatureCheck } from '../primitives/signature.js'

/** The part of a check that a worker needs. */
export type BatchCheck = Pick<SignatureCheck, 'message' | 'keys' | 'signatures'>

const wordsPerCheck = 4

/**
 * Checks as one buffer that can be transferred to another thread without a copy. 32-bit words in native byte order: number of
 * checks, number of parts; for each check the part that is its message, its first own part, how many keys, how many signatures;
 * the length of each part. Then the parts. A message that several checks share by reference is one part.
 */
export function packBatch(checks: readonly BatchCheck[]): ArrayBuffer {
  const parts: Uint8Array[] = []
  const messages = new Map<Uint8Array, number>()
  const words = [checks.length, 0]
  for (const { message, keys, signatures } of checks) {
    let messagePart = messages.get(message)
    if (messagePart === undefined) {
      messagePart = parts.push(message) - 1
      messages.set(message, messagePart)
    }
    words.push(messagePart, parts.length, keys.length, signatures.length)
    parts.push(...keys, ...signatures)
  }
  words[1] = parts.length
  let offset = (words.length + parts.length) * 4
  const buffer = new ArrayBuffer(parts.reduce((size, part) => size + part.length, offset))
  const head = new Uint32Array(buffer, 0, words.length + parts.length)
  const bytes = new Uint8Array(buffer)
  head.set(words)
  for (const [index, part] of parts.entries()) {
    head[words.length + index] = part.length
    bytes.set(part, offset)
    offset += part.length
  }
  return buffer
}

/** The checks of {@link packBatch}, as views into its buffer. */
export function unpackBatch(buffer: ArrayBuffer): BatchCheck[] {
  const [checkCount = 0, partCount = 0] = new Uint32Array(buffer, 0, 2)
  const checkWords = new Uint32Array(buffer, 8, checkCount * wordsPerCheck)
  const lengths = new Uint32Array(buffer, checkWords.byteOffset + checkWords.byteLength, partCount)
  let offset = lengths.byteOffset + lengths.byteLength
  const parts = Array.from(lengths, (length) => {
    offset += length
    return new Uint8Array(buffer, offset - length, length)
  })
  return Array.from({ length: checkCount }, (_, index) => {
    const at = index * wordsPerCheck
    const [messagePart, first, keys, signatures] = checkWords.subarray(at, at + wordsPerCheck) as unknown as [
      number,
      number,
      number,
      number,
    ]
    return {
      message: parts[messagePart] as Uint8Array,
      keys: parts.slice(first, first + keys),
      signatures: parts.slice(first + keys, first + keys + signatures),
    }
  })
}
