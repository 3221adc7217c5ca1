import { createHash } from 'node:crypto'
import type { Random } from '../../../src/base/runtime/env.js'

/** Bytes that follow from a seed. */
export function seededRandom(seed: number | string): Random {
  let draws = 0
  return {
    bytes: (length) => {
      const draw = draws++
      const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, i) =>
        createHash('sha256').update(`${seed}/${draw}/${i}`).digest(),
      )
      return Buffer.concat(blocks).subarray(0, length)
    },
  }
}
