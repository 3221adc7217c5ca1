import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UserError } from '../errors/rule-error.js'
import { fromHex, toHex } from '../primitives/bytes.js'
import type { Random } from '../runtime/env.js'
import { onOwnFile } from './failure.js'

const secretSize = 32

/**
 * The 32-byte secret in a hex file, made at the first start and readable by its owner alone. `what` names the secret in the
 * {@link UserError} for any other content.
 */
export function loadSecret(file: string, what: string, random: Random): Promise<Uint8Array> {
  return onOwnFile(`${file} cannot be read or written`, () => loadOrMake(file, what, random))
}

async function loadOrMake(file: string, what: string, random: Random): Promise<Uint8Array> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text !== undefined) {
    const secret = fromHex(text.trim())
    if (secret?.length === secretSize) return secret
    throw new UserError(`${file} holds no ${what} of ${2 * secretSize} hex digits; move it away for a new one`)
  }
  const secret = random.bytes(secretSize)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${toHex(secret)}\n`, { mode: 0o600 })
  await chmod(file, 0o600)
  return secret
}
