import type { Command } from 'commander'
import { singleKeyCode } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { buildMerge } from '../../clients/wallet/build-transaction.js'
import { rulesAt } from './chain-rules.js'
import type { CliContext } from './cli-context.js'
import { type SendOptions, type WalletOptions, withOutput, withSending, withWallet } from './command-options.js'
import { examples, formatTable, report, sameOptions } from './print-output.js'
import {
  broadcast,
  type FeeWish,
  paymentFrom,
  requireEnough,
  type Sent,
  sentJson,
  signAll,
} from './send-transaction.js'
import { publicAccount, signingAccount } from './signing-account.js'
import { requireOneFee, withFee } from './transfer-options.js'

interface MergeOptions extends WalletOptions, SendOptions, FeeWish {}

/** `didledger wallet merge` */
export function registerMerge(wallet: Command, context: CliContext): void {
  withFee(withSending(withWallet(withOutput(wallet.command('merge')))))
    .description('join the coins of an account, so that one payment can spend more of them')
    .addHelpText('after', examples('wallet merge', 'wallet merge --devnet-account 0'))
    .action((options: MergeOptions) => merge(context, options))
}

async function merge(context: CliContext, options: MergeOptions): Promise<void> {
  requireOneFee(options)
  const client = new NodeClient(options)
  const code = singleKeyCode(publicAccount(options).publicKey)
  const paid = await paymentFrom(context, client, code, await rulesAt(client, options), options)
  const all = buildMerge(paid)
  for (const built of all) requireEnough(built, paid)
  const { privateKey } = await signingAccount(context, options)
  const sent: Sent[] = []
  // All are in the pool before the first wait.
  for (const built of all)
    sent.push(await broadcast(context, client, signAll(built, privateKey), { ...options, wait: false }))
  const waited =
    options.wait === false
      ? sent
      : await Promise.all(sent.map(async ({ txid }) => ({ txid, block: await client.waitForBlock(txid) })))
  const joined = all.map(({ spent, fee }, i) => ({
    ...sentJson(waited[i] as Sent),
    coins: spent.length,
    fee: formatAmount(fee),
  }))
  report(context, options, { transactions: joined }, [
    ...formatTable(
      all.map(({ spent, fee }, i) => [`${spent.length} coins`, `${sent[i]?.txid}  fee ${formatAmount(fee)}`]),
    ),
    '',
    `Next: npx didledger wallet balance${sameOptions(options)}${options.wait === false ? '   (once they are mined)' : ''}`,
  ])
}
