import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { requireMembers } from '../../base/primitives/known-members.js'
import type { Random } from '../../base/runtime/env.js'
import { requireWhole } from '../../clients/client/arguments.js'
import { buildTransfer } from '../../clients/wallet/build-transaction.js'
import { devnetAccountCount, devnetAccountsOf, devnetMnemonic } from '../../clients/wallet/devnet-accounts.js'
import type { Funding } from '../devnet/fund-accounts.js'
import type { Node } from '../node.js'
import { addressBytes, thousandfold, units } from './caller-values.js'
import { NodePayments } from './node-payments.js'
import type { NodeWallet } from './node-types.js'
import { walletDids } from './wallet-dids.js'

/** Largest index of a key that is derived without hardening. */
const lastIndex = 2 ** 31 - 1

const replacedMembers = { from: 'account', txid: 'text' } as const

/** The wallet of a node in this process, on a devnet with the accounts of `funding`; `node` throws once it is closed. */
export function nodeWallet(
  node: () => Node,
  random: Random,
  { accounts = devnetAccountCount, mnemonic = devnetMnemonic }: Pick<Funding, 'accounts' | 'mnemonic'> = {},
): NodeWallet {
  const devnet = node().spec.devnet
  const accountAt = devnetAccountsOf(mnemonic)
  const devnetAccounts = devnet ? Array.from({ length: accounts }, (_, index) => accountAt(index)) : []
  const payments = new NodePayments(node, random, devnetAccounts)
  return {
    ...walletDids(node, payments),
    accounts: devnetAccounts,
    account: (index) => {
      if (!devnet) throw new UserError(`the chain ${node().spec.name} is no devnet: it has no accounts of its own`)
      return accountAt(requireWhole('index', index, [0, lastIndex]))
    },
    transfer: async (transfer) => {
      const optional = { fee: 'any', feeFromAmount: 'flag', outputLock: 'whole' } as const
      requireMembers('transfer', transfer, { from: 'account', to: 'any', amount: 'any', ...optional }, ['from'])
      const { from, to, amount, fee, outputLock, feeFromAmount } = transfer
      const value = amount === 'all' ? ('all' as const) : units('amount', amount)
      const recipient = { programHash: addressBytes(to, 'to'), value, ...defined({ outputLock }) }
      return payments.send(from, fee, (payment) =>
        buildTransfer({ ...payment, ...defined({ feeFromAmount }) }, [recipient]),
      )
    },
    merge: async (merge) => {
      requireMembers('merge', merge, { from: 'account', fee: 'any' }, ['from'])
      const { from, fee } = merge
      return payments.merge(from, fee)
    },
    bump: async (bump) => {
      requireMembers('bump', bump, { ...replacedMembers, fee: 'any', feeRate: 'any' }, ['txid'])
      const { fee, feeRate } = bump
      const wish = { fee: fee === undefined ? fee : units('fee', fee), feeRate: feeRate && thousandfold(feeRate) }
      return payments.replace(bump, defined(wish))
    },
    cancel: async (cancel) => {
      requireMembers('cancel', cancel, replacedMembers, ['txid'])
      return payments.replace(cancel, { cancel: true })
    },
  }
}
