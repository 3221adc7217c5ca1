import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ed25519 } from '@noble/curves/ed25519.js'
import type { Random } from '../env.js'
import { UserError } from '../errors.js'
import { fromHex, toHex } from '../primitives/bytes.js'
import { sha256 } from '../primitives/hash.js'

/** Who a node is to its peers. */
export interface Identity {
  /** 32-byte Ed25519 secret. */
  readonly secretKey: Uint8Array
  /** 32-byte Ed25519 public key. */
  readonly publicKey: Uint8Array
  /** First 53 bits of sha256 of the public key: an integer that JSON carries exactly. */
  readonly id: number
}

/** The identity in a key file, made at the first start; the file is readable by its owner alone. */
export async function loadIdentity(file: string, random: Random): Promise<Identity> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text !== undefined) {
    const secretKey = fromHex(text.trim())
    if (secretKey?.length !== 32)
      throw new UserError(`${file} holds no peer key of 64 hex digits; move it away for a new one`)
    return identityOf(secretKey)
  }
  const secretKey = random.bytes(32)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${toHex(secretKey)}\n`, { mode: 0o600 })
  await chmod(file, 0o600)
  return identityOf(secretKey)
}

function identityOf(secretKey: Uint8Array): Identity {
  const publicKey = ed25519.getPublicKey(secretKey)
  return { secretKey, publicKey, id: peerNumber(publicKey) }
}

/** The number by which a peer's public key is shown. */
export function peerNumber(publicKey: Uint8Array): number {
  return Number(BigInt(`0x${toHex(sha256(publicKey).subarray(0, 7))}`) >> 3n)
}
