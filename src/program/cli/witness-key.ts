import { join } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'
import { utf8 } from '../../base/primitives/bytes.js'
import type { Random } from '../../base/runtime/env.js'
import { ed25519PublicKey } from '../../base/crypto/ed25519.js'
import { asLightError } from '../../clients/light/light-error.js'
import { isThere, readSecretFile, requireFilePath, writeFileAtomically } from '../../clients/wallet/files.js'
import {
  firstWitnessState,
  readWitnessSecret,
  type WitnessSecret,
  type WitnessSignerOptions,
} from '../../clients/witness/witness-signer.js'
import { signerKeyText, witnessKey } from '../../identity/proofs/witness-note.js'
import { SignStateFile } from '../../voting/sign-state-file.js'
import { lockPath } from '../../ledger/storage/care/level/lock-path.js'

/** The key of a witness in a file, with its state beside it: FILE, FILE.state and FILE.lock. */

const stateOf = (file: string) => `${file}.state`

/** A key that this process alone uses until it is released. */
export interface HeldWitnessKey {
  readonly node: Pick<WitnessSignerOptions, 'secret' | 'store'>
  release(): Promise<void>
}

/**
 * The key in a file that no other user may read, for this process alone; undefined without a file. A UserError for any other content, and
 * while another process uses it.
 */
export async function witnessOf(file: string): Promise<HeldWitnessKey>
export async function witnessOf(file: string | undefined): Promise<HeldWitnessKey | undefined>
export async function witnessOf(file: string | undefined): Promise<HeldWitnessKey | undefined> {
  if (file === undefined) return undefined
  const secret = readWitnessSecret(readSecretFile(file, 'witness key'), `the witness key in ${file}`)
  const release = await lockPath(join(`${file}.lock`), `${file}.lock, of the witness key`)
  return { node: { secret, store: new SignStateFile(stateOf(file)) }, release }
}

/** Makes a key with its first state, in new files that only their owner may read; a UserError where one exists, and for a name that none can have. */
export function makeWitnessKey(file: string, name: string, random: Random): WitnessSecret {
  const seed = random.bytes(32)
  const key = keyNamed(name, ed25519PublicKey(seed))
  // The state first: a key without one signs nothing.
  if (isThere(file, 'witness key')) throw new UserError(`${file} exists already and is not overwritten`)
  requireFilePath(file)
  writeFileAtomically(stateOf(file), utf8(firstWitnessState(key)) ?? '', { mode: 0o600 })
  writeFileAtomically(file, `${signerKeyText(key, seed)}\n`, { mode: 0o600 })
  return { key, seed }
}

function keyNamed(name: string, publicKey: Uint8Array) {
  try {
    return witnessKey(name, publicKey)
  } catch (error) {
    throw new UserError(`the name of the witness: ${asLightError(error).message.replace(/^form: /, '')}`, 2)
  }
}
