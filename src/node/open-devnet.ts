import { UserError } from '../base/errors/rule-error.js'
import { defined } from '../base/primitives/defined.js'
import type { ResourceStack } from '../base/runtime/resource-stack.js'
import type { Mempool } from '../ledger/mempool/mempool.js'
import type { DataDirectory } from '../ledger/storage/directory.js'
import { Devnet } from './devnet/devnet.js'
import { automine } from './devnet/mining-mode.js'
import { lockStateFile } from './devnet/state.js'
import type { NodeOptions } from './node.js'
import type { Store } from './open-store.js'

export async function openDevnet(
  { env, tuning = {}, onStep = () => {} }: NodeOptions,
  { chain, signatures, virtualClock, directory }: Store,
  mempool: Mempool,
  stack: ResourceStack,
): Promise<Devnet | undefined> {
  if (virtualClock === undefined) return undefined
  const { mining = automine, accounts, mnemonic, balance, seedDids = 0, state: stateFile } = tuning.devnet ?? {}
  if (stateFile !== undefined) stack.defer(await lockStateFile(stateFile))
  const devnet = new Devnet({
    ...env,
    chain,
    mempool,
    signatures,
    clock: virtualClock,
    mining,
    ...defined({ stateFile }),
  })
  stack.defer(() => devnet.close().catch((error: unknown) => keepChain(directory, error)))
  await devnet.loadStateFile((done) => onStep({ stage: 'state', done }))
  await devnet.fund(defined({ accounts, mnemonic, balance }))
  if (seedDids > 0) await devnet.seed(seedDids, (done) => onStep({ stage: 'dids', done, total: seedDids }))
  devnet.start()
  return devnet
}

/** Keeps the directory of a devnet whose state could not be saved, and throws the failure with its place. */
async function keepChain(directory: DataDirectory, error: unknown): Promise<never> {
  if (!directory.temporary) throw error
  await directory.keep()
  const { message } = error as Error
  const kept = `${message}; the chain stays in ${directory.path}: "npx didledger devnet --data-dir ${directory.path}" continues there`
  throw error instanceof UserError ? new UserError(kept, error.exitCode) : new Error(kept, { cause: error })
}
