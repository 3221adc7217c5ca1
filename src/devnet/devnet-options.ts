import { Type } from '@sinclair/typebox'
import { option, wholeNumber } from '../runtime/option.js'
import { devnetAccountCount, localnetValidatorCount, maxDevnetAccounts } from '../wallet/devnet-accounts.js'

export const devnetOptions = {
  blockTime: option({
    key: 'devnet.blockTime',
    flag: '--block-time <seconds>',
    ...wholeNumber(1, 999_999, 'a number of seconds'),
    description: 'make a block every so often',
    unit: 'seconds',
    commands: ['devnet'],
  }),
  automine: option({
    key: 'devnet.automine',
    flag: '--no-automine',
    schema: Type.Boolean(),
    default: true,
    description: 'make blocks only on dev_mine',
    expects: 'true or false',
    commands: ['devnet'],
  }),
  accounts: option({
    key: 'devnet.accounts',
    flag: '--accounts <n>',
    ...wholeNumber(1, maxDevnetAccounts, 'a number of accounts'),
    default: devnetAccountCount,
    description: 'how many accounts to fund and show',
    unit: 'accounts',
    commands: ['devnet'],
  }),
  nodes: option({
    key: 'devnet.nodes',
    flag: '--nodes <n>',
    ...wholeNumber(1, localnetValidatorCount, 'a number of nodes'),
    description: 'run so many nodes of the chain localnet instead, each with a process and 1000 ports of its own',
    unit: 'nodes',
    commands: ['devnet'],
  }),
}
