/** What SHA-256 and RIPEMD-160 share: a padded message in blocks of 64 bytes, words of 32 bits, and a state that becomes the digest. */

export const blockSize = 64

/** A message, a bit, zeros, and the length of the message in bits, up to whole blocks. */
export function padded(message: Uint8Array, littleEndian: boolean): DataView {
  const bytes = new Uint8Array(Math.ceil((message.length + 9) / blockSize) * blockSize)
  bytes.set(message)
  bytes[message.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setBigUint64(bytes.length - 8, BigInt(message.length * 8), littleEndian)
  return view
}

/** A word turned to the left by 1 to 31 bits. */
export function rotatedLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}

export function digestOf(state: Int32Array, littleEndian: boolean): Uint8Array {
  const digest = new Uint8Array(state.length * 4)
  const view = new DataView(digest.buffer)
  state.forEach((word, i) => view.setInt32(i * 4, word, littleEndian))
  return digest
}
