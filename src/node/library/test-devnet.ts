/// <reference lib="esnext.disposable" preserve="true" />
import { requireObject } from '../../clients/client/arguments.js'
import { requireKnown } from '../../base/primitives/known-members.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import { createNode } from './create-node.js'
import type { ApiOptions, CreateNodeOptions, LedgerNode, NodeDevnet } from './node-types.js'

/** Options of a devnet for tests; those of `createNode` with these names, and `allowOrigins` of its `api`. */
export interface TestDevnetOptions
  extends
    Pick<CreateNodeOptions, 'accounts' | 'mnemonic' | 'balance' | 'seedDids' | 'mining' | 'tuning' | 'log'>,
    Pick<ApiOptions, 'allowOrigins'> {}

/** The node of a devnet that serves HTTP. */
export type TestDevnetNode = LedgerNode & {
  readonly devnet: NodeDevnet
  readonly api: NonNullable<LedgerNode['api']>
}

/** A devnet of a test, in its process. */
export interface TestDevnet extends AsyncDisposable {
  readonly node: TestDevnetNode
  /** The funded accounts, each with keys, address and DID. */
  readonly accounts: readonly SigningAccount[]
  /** Base URLs of REST (without `/api/v1`), JSON-RPC and WebSocket, on loopback. */
  readonly urls: TestDevnetNode['api']
  /** Makes blocks, one if absent, and resolves with their hashes. */
  mine(blocks?: number): Promise<string[]>
  /** Moves the clock forward and resolves with the new time in Unix seconds; no block is made. */
  increaseTime(seconds: number): Promise<number>
  /** Saves chain, pool and clock. */
  snapshot(): Promise<TestSnapshot>
  /** Ends everything: ports, connections, timers, the directory of the chain. May be called again. */
  close(): Promise<void>
}

/** A saved state of a devnet. */
export interface TestSnapshot {
  /**
   * Takes chain, pool and clock back to it, as often as asked. Snapshots that were taken later are gone then; the restore of one rejects.
   */
  restore(): Promise<void>
}

const optionNames: Readonly<Record<keyof TestDevnetOptions, true>> = {
  accounts: true,
  mnemonic: true,
  balance: true,
  seedDids: true,
  mining: true,
  tuning: true,
  log: true,
  allowOrigins: true,
}

/**
 * Starts a devnet in this process, with free ports of its own; any number may run. Resolves once it serves. A {@link UserError}
 * describes a fault of the options, and leaves nothing open.
 */
export async function devnet(options: TestDevnetOptions = {}): Promise<TestDevnet> {
  const given = requireObject('devnet: an object with options is needed', options)
  requireKnown('devnet', given, Object.keys(optionNames))
  const { allowOrigins, ...ofNode } = given
  const api = { portBase: 0, ...(allowOrigins === undefined ? {} : { allowOrigins }) }
  const node = (await createNode({ ...ofNode, network: 'devnet', api })) as TestDevnetNode
  const close = () => node.close()
  return {
    node,
    accounts: node.wallet.accounts,
    urls: node.api,
    mine: (blocks) => node.devnet.mine(blocks),
    increaseTime: (seconds) => node.devnet.increaseTime(seconds),
    snapshot: async () => {
      const number = await node.devnet.snapshot()
      return { restore: () => node.devnet.revert(number) }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
