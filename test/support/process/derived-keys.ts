import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Derives each key of a password once in a process: workbenches draw the same salts, and a key takes some 0.4 s.
 */
const known = new Map<string, Buffer>()
const derive = crypto.scryptSync

/** Has {@link crypto.scryptSync} give a key that it has derived before, to all modules. */
export function deriveOnce(): void {
  crypto.scryptSync = (password: BinaryLike, salt: BinaryLike, length: number, options?: ScryptOptions) => {
    const asked = JSON.stringify([textOf(password), textOf(salt), length, options])
    const key = known.get(asked) ?? derive(password, salt, length, options)
    known.set(asked, key)
    return Buffer.from(key)
  }
  syncBuiltinESMExports()
}

function textOf(bytes: BinaryLike): string {
  return typeof bytes === 'string' ? bytes : Buffer.from(bytes as Uint8Array).toString('base64')
}
