import { Type } from '@sinclair/typebox'
import { maxAllowedOrigins, originOf } from '../../answers/api/http/origin.js'
import { isMnemonic } from '../../base/crypto/hd.js'
import { parseAmount } from '../../base/primitives/amount.js'
import { defined } from '../../base/primitives/defined.js'
import { onOrOff, optionsFor, wholeNumber } from '../../base/runtime/option.js'
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
  /** Origins of other sites whose pages may use it, as browsers send them. */
  readonly allowedOrigins: readonly string[]
  /** Processes of localnet that the command runs instead. */
  readonly nodes: number
}

const { option, table } = optionsFor<DevnetTarget>(['devnet'])

export const devnetOptions = table('devnet', {
  blockTime: option((seconds) => ({ mining: { kind: 'interval', seconds } }), {
    flag: '--block-time <seconds>',
    ...wholeNumber(1, 999_999, 'seconds'),
    description: 'make a block every so often',
  }),
  automine: option((automine) => (automine ? {} : { mining: { kind: 'manual' } }), {
    flag: '--no-automine',
    ...onOrOff(true),
    description: 'make blocks only on dev_mine',
  }),
  accounts: option({
    flag: '--accounts <n>',
    ...wholeNumber(1, maxDevnetAccounts, 'accounts'),
    default: devnetAccountCount,
    description: 'how many accounts to fund and show',
  }),
  mnemonic: option({
    flag: '--mnemonic <words>',
    schema: Type.String(),
    description: 'BIP-39 words from which the accounts come, instead of those of every devnet',
    expects: 'an English BIP-39 mnemonic: 12 to 24 words in quotes, each of the list, with a right checksum',
    check: isMnemonic,
  }),
  balance: option((coins) => defined({ balance: parseAmount(coins) }), {
    flag: '--balance <coins>',
    schema: Type.String(),
    description: 'what each of these accounts has at least at the start',
    expects: 'coins with at most eight decimals, such as 25000 or 1.5',
    check: (coins) => parseAmount(coins) !== undefined,
  }),
  seedDids: option({
    flag: '--seed-dids <n>',
    ...wholeNumber(0, maxSeededDids, 'DIDs'),
    description: 'register so many DIDs to begin with',
  }),
  state: option({
    flag: '--state <file>',
    schema: Type.String({ minLength: 1 }),
    description: 'begin with the state in this file if it is there, and save it there at the end',
    expects: 'a file',
  }),
  allowOrigin: option((texts) => ({ allowedOrigins: texts.map((text) => originOf(text) ?? text) }), {
    flag: '--allow-origin <origin...>',
    schema: Type.Array(Type.String(), { maxItems: maxAllowedOrigins, uniqueItems: true }),
    default: [],
    description: 'origins of pages that may use this devnet as its own pages do: those of your development server',
    expects:
      'a list of at most 16 different origins such as http://localhost:5173: http or https, host and port, no path, no slash at the end, no *',
    check: (texts) => texts.every((text) => originOf(text) !== undefined),
  }),
  nodes: option({
    flag: '--nodes <n>',
    ...wholeNumber(1, localnetValidatorCount, 'nodes'),
    description: 'run so many nodes of the chain localnet instead, each with a process and 1000 ports of its own',
  }),
})
