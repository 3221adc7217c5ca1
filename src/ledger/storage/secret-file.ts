import { chmod, mkdir, open, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'
import { fromHex, toHex } from '../../base/primitives/bytes.js'
import { hexFault } from '../../base/primitives/hex-fault.js'
import type { Random } from '../../base/runtime/env.js'
import { refuseShared } from '../../base/runtime/secret-access.js'
import { onOwnFile } from './failure.js'

const secretSize = 32

/**
 * The 32-byte secret in a hex file, made at the first start and readable by its owner alone. `what` names the secret in the
 * {@link UserError} for any other content, and for a file that others may read.
 */
export function loadSecret(file: string, what: string, random: Random): Promise<Uint8Array> {
  return onOwnFile(`${file} cannot be read or written`, () => loadOrMake(file, what, random))
}

async function loadOrMake(file: string, what: string, random: Random): Promise<Uint8Array> {
  const text = await readOwn(file, what)
  if (text !== undefined) {
    const secret = fromHex(text.trim())
    if (secret?.length === secretSize) return secret
    const fault = hexFault(text.trim(), secretSize)
    throw new UserError(
      `${file} holds no ${what} of ${2 * secretSize} hex digits: ${fault}; move it away for a new one`,
    )
  }
  const secret = random.bytes(secretSize)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${toHex(secret)}\n`, { mode: 0o600 })
  await chmod(file, 0o600)
  return secret
}

/** The text of a file that only its owner may read; undefined if there is none. */
async function readOwn(file: string, what: string): Promise<string | undefined> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    refuseShared(file, what, await handle.stat())
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}
