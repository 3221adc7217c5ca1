import { type Command, Option } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { NodeClient, type Waiting } from '../../clients/client/node-client.js'
import type { History } from '../../clients/client/node-answers.js'
import { rulesAt } from './chain-rules.js'
import { NodeRefusal } from '../../clients/client/http.js'
import { type SpendableCoin, unusable } from '../../clients/wallet/coins.js'
import type { Labels } from '../../clients/wallet/labels.js'
import type { ChainRules } from '../../clients/wallet/terms.js'
import { labelsOf } from './address-labels.js'
import type { CliContext } from './cli-context.js'
import {
  countOption,
  recipientOption,
  type RestFlags,
  type WalletOptions,
  withNode,
  withOutput,
  withWallet,
} from './command-options.js'
import { examples, formatTable, linesText, report } from './print-output.js'
import { listAccounts } from './signing-account.js'

/** `didledger wallet balance | history`: what accounts hold, and what moved it. */

interface HistoryOptions extends WalletOptions, RestFlags {
  readonly csv?: boolean
  readonly limit: number
}

/** Transactions of a history that are shown unless more are asked for. */
const usualCount = 20
/** Transactions of one page of a node. */
const pageRows = 100

export function registerHistory(wallet: Command, context: CliContext): void {
  withNode(withWallet(withOutput(wallet.command('balance'))))
    .description('show what the accounts of a wallet, or one address, hold, and what waits for a block')
    .argument('[address]', 'an address instead of a wallet', (text) => recipientOption(text).address)
    .addHelpText('after', examples('wallet balance --devnet-account 0'))
    .action((of: string | undefined, options: WalletOptions & RestFlags) => balance(context, of, options))
  withNode(withWallet(withOutput(wallet.command('history'))))
    .description('list the payments of the accounts of a wallet, or of one address, newest first')
    .argument('[address]', 'an address instead of a wallet', (text) => recipientOption(text).address)
    .addOption(new Option('--csv', 'print comma-separated values, times in UTC').conflicts('json'))
    .option('--limit <n>', 'how many; 0: all', countOption, usualCount)
    .addHelpText(
      'after',
      examples('wallet history --devnet-account 0', 'wallet history --limit 0 --csv > payments.csv'),
    )
    .action((of: string | undefined, options: HistoryOptions) => history(context, of, options))
}

/** The addresses that a command is about: one that is named, that of an account, or all of a wallet. */
function addressesOf(of: string | undefined, options: WalletOptions): string[] {
  if (of !== undefined) return [of]
  const all = listAccounts(options).map(({ address }) => address)
  const { account } = options
  const addresses = account === undefined ? all : all.slice(account, account + 1)
  if (addresses.length === 0) throw new UserError(`this wallet has no account ${account}`)
  return addresses
}

async function balance(context: CliContext, of: string | undefined, options: WalletOptions & RestFlags): Promise<void> {
  const client = new NodeClient(options)
  const addresses = addressesOf(of, options)
  const rules = await rulesAt(client, {})
  const { assetId } = rules
  const [waiting, coins, ...balances] = await Promise.all([
    client.waiting(addresses, assetId),
    Promise.all(addresses.map((address) => client.listUnspent(address, assetId))),
    ...addresses.map((address) => client.balance(address)),
  ])
  const rows = addresses.map((address, i) => ({
    address,
    balance: balances[i] as bigint,
    withheld: withheldOf(coins[i] ?? [], rules),
    received: sumOf(waiting.map(({ received }) => received.get(address))),
    spent: sumOf(waiting.map(({ spent }) => spent.get(address))),
  }))
  const total = sumOf(balances)
  const json = rows.map(({ address, balance, withheld, received, spent }) => ({
    address,
    balance: formatAmount(balance),
    ...Object.fromEntries(partsOf(balance, withheld)),
    waiting: { received: formatAmount(received), spent: formatAmount(spent) },
  }))
  report(context, options, { accounts: json, total: formatAmount(total) }, [
    ...rows.map(
      ({ address, balance, withheld, received, spent }) =>
        `${address}  ${formatAmount(balance)}${withheldText(balance, withheld)}${waitingText(received, spent)}`,
    ),
    ...(rows.length === 1 ? [] : [`${'total'.padEnd(34)}  ${formatAmount(total)}`]),
  ])
}

/** Sums of coins that no block takes yet. */
interface Withheld {
  /** By the lock of their output. */
  readonly locked: bigint
  /** Coins of coinbases that are too young. */
  readonly immature: bigint
}

function withheldOf(coins: readonly SpendableCoin[], rules: ChainRules): Withheld {
  const sum = (why: keyof Withheld) => sumOf(coins.map((coin) => (unusable(coin, rules) === why ? coin.value : 0n)))
  return { locked: sum('locked'), immature: sum('immature') }
}

/** The parts of a balance by name, of those that can be spent, are locked and are immature; none where all can be spent. */
function partsOf(balance: bigint, { locked, immature }: Withheld): [string, string][] {
  const withheld = locked + immature
  if (withheld === 0n) return []
  // The list and the balance may be those of two blocks, and a long list lacks its least coins.
  const spendable = balance > withheld ? balance - withheld : 0n
  return Object.entries({ spendable, locked, immature }).map(([name, value]) => [name, formatAmount(value)])
}

function withheldText(balance: bigint, withheld: Withheld): string {
  const parts = partsOf(balance, withheld).map(([name, value]) => `${value} ${name}`)
  return parts.length === 0 ? '' : `  (${parts.join(', ')})`
}

function waitingText(received: bigint, spent: bigint): string {
  if (received === 0n && spent === 0n) return ''
  return `  ${signed(received - spent)} waits for a block`
}

/** A transaction that changed the sum of some addresses. */
interface Entry {
  readonly txid: string
  /** Absent while it waits. */
  readonly place?: { readonly height: number; readonly index: number; readonly time: number }
  readonly kind: string
  readonly received: bigint
  readonly spent: bigint
  readonly fee?: bigint | undefined
  /** Labels of the addresses that it pays, and of those of the wallet that it spends from. */
  readonly labels: readonly string[]
}

/** Addresses of the wallet that each transaction moved something of, by its id. */
type Touched = ReadonlyMap<string, readonly string[]>

async function history(context: CliContext, of: string | undefined, options: HistoryOptions): Promise<void> {
  const client = new NodeClient(options)
  const addresses = addressesOf(of, options)
  const { assetId } = await rulesAt(client, {})
  const most = options.limit === 0 ? Infinity : options.limit
  const [waiting, ...histories] = await Promise.all([
    client.waiting(addresses, assetId),
    ...addresses.map((address) => readHistory(client, address, most)),
  ])
  const mined = joined(histories.flatMap(({ transactions }) => transactions))
  const listed = [...waiting.map(waitingEntry).reverse(), ...mined].slice(0, most)
  const touched = touchedBy(waiting, addresses, histories)
  const entries = await withLabels(client, listed, { labels: labelsOf(options), addresses, touched })
  const pruned = Math.max(0, ...histories.map((each) => each.pruned ?? 0))
  if (pruned > 0) context.err(linesText([`the node does not have the transactions up to height ${pruned}`]))
  const superseded = Math.max(0, ...histories.map((each) => each.superseded ?? 0))
  if (superseded > 0) {
    context.err(
      linesText([`the node does not list transactions whose documents were superseded up to height ${superseded}`]),
    )
  }
  if (options.csv) context.out(csvText(entries))
  else report(context, options, { transactions: entries.map(jsonOf) }, textOf(entries))
}

async function readHistory(client: NodeClient, address: string, most: number): Promise<History> {
  const transactions: History['transactions'][number][] = []
  let page = await client.history(address, { limit: Math.min(most, pageRows) })
  transactions.push(...page.transactions)
  while (page.next !== undefined && transactions.length < most) {
    page = await client.history(address, { before: page.next, limit: pageRows })
    transactions.push(...page.transactions)
  }
  return { ...page, transactions }
}

function touchedBy(waiting: readonly Waiting[], addresses: readonly string[], histories: readonly History[]): Touched {
  const touched = new Map(waiting.map(({ txid, spent, received }) => [txid, [...spent.keys(), ...received.keys()]]))
  for (const [i, { transactions }] of histories.entries()) {
    for (const { txid } of transactions) touched.set(txid, [...(touched.get(txid) ?? []), addresses[i] as string])
  }
  return touched
}

/** Transactions asked for at a time. */
const askedAtOnce = 8

/** Entries with their labels. Transactions are asked for only where others than the addresses of the wallet have a label. */
async function withLabels(
  client: NodeClient,
  entries: readonly Entry[],
  { labels, addresses, touched }: { labels: Labels; addresses: readonly string[]; touched: Touched },
): Promise<Entry[]> {
  const asks = [...labels.keys()].some((address) => !addresses.includes(address))
  const labelled: Entry[] = []
  for (let start = 0; start < entries.length; start += askedAtOnce) {
    const some = entries.slice(start, start + askedAtOnce)
    const paid = asks ? await Promise.all(some.map(({ txid }) => paidBy(client, txid))) : []
    for (const [i, entry] of some.entries()) {
      const all = new Set([...(touched.get(entry.txid) ?? []), ...(paid[i] ?? [])])
      labelled.push({ ...entry, labels: [...all].flatMap((address) => labels.get(address) ?? []) })
    }
  }
  return labelled
}

/** Addresses that a transaction pays; none where the node does not have it any more. */
async function paidBy(client: NodeClient, txid: string): Promise<readonly string[]> {
  try {
    return (await client.transaction(txid))?.vout.map(({ address }) => address) ?? []
  } catch (error) {
    if (error instanceof NodeRefusal) return []
    throw error
  }
}

/** The histories of several addresses as one, newest first: a transaction between them is one entry. */
function joined(all: History['transactions']): Entry[] {
  const byTxid = new Map<string, Entry & Required<Pick<Entry, 'place'>>>()
  for (const { txid, kind, received, spent, fee, ...place } of all) {
    const before = byTxid.get(txid)
    const entry = { txid, kind, fee, place, labels: [] }
    byTxid.set(txid, { ...entry, received: received + (before?.received ?? 0n), spent: spent + (before?.spent ?? 0n) })
  }
  return [...byTxid.values()].sort((a, b) => b.place.height - a.place.height || b.place.index - a.place.index)
}

function waitingEntry({ txid, received, spent }: Waiting): Entry {
  return { txid, kind: 'waits', received: sumOf([...received.values()]), spent: sumOf([...spent.values()]), labels: [] }
}

/** Whether all that was spent came back, less the fee: a payment to oneself, or an operation. */
function isOwn({ received, spent, fee }: Entry): boolean {
  return fee !== undefined && spent > 0n && spent - received === fee
}

function jsonOf(entry: Entry): Record<string, unknown> {
  const { txid, place, kind, received, spent, fee, labels } = entry
  return {
    txid,
    ...(place === undefined ? {} : { height: place.height, time: place.time }),
    kind,
    received: formatAmount(received),
    spent: formatAmount(spent),
    change: signed(received - spent),
    ...(fee === undefined || spent === 0n ? {} : { fee: formatAmount(fee) }),
    own: isOwn(entry),
    ...(labels.length > 0 ? { labels } : {}),
  }
}

function textOf(entries: readonly Entry[]): string[] {
  if (entries.length === 0) return ['No payments.']
  return formatTable(
    entries.map((entry) => {
      const { txid, place, kind, received, spent, labels } = entry
      const when = place === undefined ? 'waits for a block' : `${dateOf(place.time)}  ${place.height}`
      const what = isOwn(entry) && kind === 'transfer' ? 'to itself' : kind
      return [
        when,
        [signed(received - spent), what, txid, ...(labels.length > 0 ? [labels.join(', ')] : [])].join('  '),
      ]
    }),
  )
}

const columns = ['time', 'height', 'txid', 'kind', 'received', 'spent', 'change', 'fee', 'labels'] as const

function csvText(entries: readonly Entry[]): string {
  const lines = entries.map(({ txid, place, kind, received, spent, fee, labels }) =>
    [
      place === undefined ? '' : dateOf(place.time),
      place?.height ?? '',
      txid,
      kind,
      ...[received, spent].map(formatAmount),
      signed(received - spent),
      fee === undefined || spent === 0n ? '' : formatAmount(fee),
      labels.length === 0 ? '' : `"${labels.join(', ').replaceAll('"', '""')}"`,
    ].join(','),
  )
  return linesText([columns.join(','), ...lines])
}

function dateOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}

/** An amount with its sign. */
function signed(amount: bigint): string {
  return amount < 0n ? `-${formatAmount(-amount)}` : `+${formatAmount(amount)}`
}

function sumOf(amounts: readonly (bigint | undefined)[]): bigint {
  return amounts.reduce<bigint>((sum, amount) => sum + (amount ?? 0n), 0n)
}
