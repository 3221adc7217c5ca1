import { Type } from '@sinclair/typebox'
import { optionsFor, wholeNumber } from '../runtime/option.js'
import { devnetAccountCount, localnetValidatorCount, maxDevnetAccounts } from '../wallet/devnet-accounts.js'
import type { MiningMode } from './mining-mode.js'

/** What the options of a devnet set. */
export interface DevnetTarget {
  /** When its validator makes blocks; at once when absent. */
  readonly mining: MiningMode
  /** So many accounts have coins, those that its genesis block pays included. */
  readonly accounts: number
  /** Processes of localnet that the command runs instead. */
  readonly nodes: number
}

const option = optionsFor<'devnet', DevnetTarget>()

export const devnetOptions = {
  blockTime: option({
    key: 'devnet.blockTime',
    flag: '--block-time <seconds>',
    ...wholeNumber(1, 999_999, 'a number of seconds'),
    description: 'make a block every so often',
    unit: 'seconds',
    commands: ['devnet'],
    sets: (seconds) => ({ mining: { kind: 'interval', seconds } }),
  }),
  automine: option({
    key: 'devnet.automine',
    flag: '--no-automine',
    schema: Type.Boolean(),
    default: true,
    description: 'make blocks only on dev_mine',
    expects: 'true or false',
    commands: ['devnet'],
    sets: (automine) => (automine ? {} : { mining: { kind: 'manual' } }),
  }),
  accounts: option({
    key: 'devnet.accounts',
    flag: '--accounts <n>',
    ...wholeNumber(1, maxDevnetAccounts, 'a number of accounts'),
    default: devnetAccountCount,
    description: 'how many accounts to fund and show',
    unit: 'accounts',
    commands: ['devnet'],
    sets: 'accounts',
  }),
  nodes: option({
    key: 'devnet.nodes',
    flag: '--nodes <n>',
    ...wholeNumber(1, localnetValidatorCount, 'a number of nodes'),
    description: 'run so many nodes of the chain localnet instead, each with a process and 1000 ports of its own',
    unit: 'nodes',
    commands: ['devnet'],
    sets: 'nodes',
  }),
}
