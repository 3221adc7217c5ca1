import { publicKeyOf } from '../base/crypto/keys.js'
import { concat, toHex } from '../base/primitives/bytes.js'
import { genesisBlock } from '../base/primitives/genesis.js'
import { sha256 } from '../base/primitives/hash.js'
import type { Spec } from '../base/primitives/spec.js'
import type { ResourceStack } from '../base/runtime/resource-stack.js'
import type { DataDirectory } from '../ledger/storage/directory.js'
import { RemoteKey } from '../voting/remote/remote-key.js'
import { SignStateFile, type SignStore } from '../voting/sign-state-file.js'
import type { CoreValidator } from './core.js'
import type { NodeOptions, NodeValidator } from './node.js'

/** The key of a validator with its sign state: in the data directory, or at its signer. */
export async function validatorOf(
  { spec, env }: NodeOptions,
  validator: NodeValidator,
  directory: DataDirectory,
  stack: ResourceStack,
): Promise<CoreValidator> {
  if ('key' in validator) return { ...validator, signStore: signStoreOf(directory, spec, validator.key) }
  const { signer: socket, ...reset } = validator
  const holder = await RemoteKey.open({ ...env, socket, genesis: genesisBlock(spec).header.hash })
  stack.defer(async () => holder.close())
  return { holder, ...reset }
}

/** One file for each key and chain: a directory may see several keys, and a key several chains. */
function signStoreOf(directory: DataDirectory, spec: Spec, key: Uint8Array): SignStore {
  const owner = sha256(concat(publicKeyOf(key), genesisBlock(spec).header.hash))
  return new SignStateFile(directory.signState(toHex(owner.subarray(0, 8))))
}
