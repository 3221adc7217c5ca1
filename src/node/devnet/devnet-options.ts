import { Type } from '@sinclair/typebox'
import { isMnemonic } from '../../base/crypto/hd.js'
import { parseAmount } from '../../base/primitives/amount.js'
import { defined } from '../../base/primitives/defined.js'
import { optionsFor, wholeNumber } from '../../base/runtime/option.js'
import {
  devnetAccountCount,
  localnetValidatorCount,
  maxDevnetAccounts,
  maxSeededDids,
} from '../../clients/wallet/devnet-accounts.js'
import type { MiningMode } from './mining-mode.js'

/** Settings made by the options of a devnet. */
export interface DevnetTarget {
  /** When its validator makes blocks; at once when absent. */
  readonly mining: MiningMode
  /** Number of accounts with coins, those that its genesis block pays included. */
  readonly accounts: number
  /** BIP-39 mnemonic of its accounts. */
  readonly mnemonic: string
  /** Each of these accounts has at least so much at the start, in units of 10^-8. */
  readonly balance: bigint
  /** Number of DIDs registered at the start. */
  readonly seedDids: number
  /** File of its state: read at the start, written at the end. */
  readonly state: string
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
  mnemonic: option({
    key: 'devnet.mnemonic',
    flag: '--mnemonic <words>',
    schema: Type.String(),
    description: 'BIP-39 words from which the accounts come, instead of those of every devnet',
    expects: 'an English BIP-39 mnemonic: 12 to 24 words in quotes, each of the list, with a right checksum',
    check: isMnemonic,
    commands: ['devnet'],
    sets: 'mnemonic',
  }),
  balance: option({
    key: 'devnet.balance',
    flag: '--balance <coins>',
    schema: Type.String(),
    description: 'what each of these accounts has at least at the start',
    expects: 'coins with at most eight decimals, such as 25000 or 1.5',
    check: (coins) => parseAmount(coins) !== undefined,
    commands: ['devnet'],
    sets: (coins) => defined({ balance: parseAmount(coins) }),
  }),
  seedDids: option({
    key: 'devnet.seedDids',
    flag: '--seed-dids <n>',
    ...wholeNumber(0, maxSeededDids, 'a number of DIDs'),
    description: 'register so many DIDs to begin with',
    unit: 'DIDs',
    commands: ['devnet'],
    sets: 'seedDids',
  }),
  state: option({
    key: 'devnet.state',
    flag: '--state <file>',
    schema: Type.String({ minLength: 1 }),
    description: 'begin with the state in this file if it is there, and save it there at the end',
    expects: 'a file',
    commands: ['devnet'],
    sets: 'state',
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
