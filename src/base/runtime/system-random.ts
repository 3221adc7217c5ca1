import type { Random } from './env.js'

/** Unpredictable bytes of this machine, for mnemonics, keys and nonces; in Node and in pages. */
export const systemRandom: Random = {
  bytes: (length) => globalThis.crypto.getRandomValues(new Uint8Array(length)),
}
