import type { Command } from 'commander'
import { singleKeyCode } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { buildMerge } from '../../clients/wallet/build-transaction.js'
import { sendMerges } from '../../clients/wallet/choose-again.js'
import { rulesAt } from './chain-rules.js'
import type { CliContext } from './cli-context.js'
import { type SendOptions, type WalletOptions, withOutput, withSending, withWallet } from './command-options.js'
import { examples, formatTable, report, sameOptions } from './print-output.js'
import {
  broadcast,
  type FeeWish,
  isSpentMeanwhile,
  paymentFrom,
  type PricedPayment,
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
  const rules = await rulesAt(client, options)
  const paymentNow = () => paymentFrom(context, client, code, rules, options)
  // What cannot be joined is refused before a password is asked for.
  let first: PricedPayment | undefined = await paymentNow()
  for (const built of buildMerge(first)) requireEnough(built, first)
  const { privateKey } = await signingAccount(context, options)
  // All are in the pool before the first wait.
  const all = await sendMerges(
    async () => {
      const paid = first ?? (await paymentNow())
      first = undefined
      return paid
    },
    async (built, paid) => {
      requireEnough(built, paid)
      return broadcast(context, client, signAll(built, privateKey), { ...options, wait: false })
    },
    isSpentMeanwhile,
  )
  const waited =
    options.wait === false
      ? all.map(({ sent }) => sent)
      : await Promise.all(all.map(async ({ sent: { txid } }) => ({ txid, block: await client.waitForBlock(txid) })))
  const joined = all.map(({ built: { spent, fee } }, i) => ({
    ...sentJson(waited[i] as Sent),
    coins: spent.length,
    fee: formatAmount(fee),
  }))
  report(context, options, { transactions: joined }, [
    ...formatTable(
      all.map(({ built: { spent, fee }, sent: { txid } }) => [
        `${spent.length} coins`,
        `${txid}  fee ${formatAmount(fee)}`,
      ]),
    ),
    '',
    `Next: npx didledger wallet balance${sameOptions(options)}${options.wait === false ? '   (once they are mined)' : ''}`,
  ])
}
