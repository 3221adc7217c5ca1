import { interfaceErrors } from '../../answers/api/http/error-mapping.js'
import { NoAnswer, NodeRefusal } from '../../clients/client/http.js'
import type { NodeClient, PoolBounds } from '../../clients/client/node-client.js'
import type { NodeBlock } from '../../clients/client/node-answers.js'
import { UserError } from '../../base/errors/rule-error.js'
import { addressOf } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { defined } from '../../base/primitives/defined.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { type Payment, payerOf, type UnsignedTransaction } from '../../clients/wallet/build-transaction.js'
import { choosingAgain } from '../../clients/wallet/choose-again.js'
import type { SpendableCoin } from '../../clients/wallet/coins.js'
import { neededFee, type Prices } from '../../clients/wallet/fee.js'
import { signTransaction } from '../../clients/wallet/sign-transaction.js'
import { type ChainRules, type Terms, termsOf } from '../../clients/wallet/terms.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions, SendOptions } from './command-options.js'
import { unlessStopped } from './interrupted.js'
import { linesText } from './print-output.js'

/** Report of a sending command. */
export interface Sent {
  readonly txid: string
  /** Absent with --no-wait. */
  readonly block?: NodeBlock
  /** Whether the node had it before. */
  readonly isKnown?: boolean
}

/** The wishes of a payer for the fee. */
export interface FeeWish {
  /** In units of 10^-8. */
  readonly fee?: bigint | undefined
  /** Sela for 1000 bytes. */
  readonly feeRate?: number | undefined
}

/** A payment, and the prices that hold for it also where its fee is another one. */
export interface PricedPayment extends Payment {
  readonly prices: Prices
  readonly bounds?: PoolBounds
}

/**
 * A payment by the address of a program code, with the coins that the node lists, within the bounds of its pool. The fee is the least that
 * the node takes unless the wish is another one. `rules` come from before the coins: if a block arrives in between, genesis coins are still recognised by their confirmations.
 */
export async function paymentFrom(
  context: CliContext,
  client: NodeClient,
  code: Uint8Array,
  rules: ChainRules,
  wish: FeeWish,
): Promise<PricedPayment> {
  const [coins, floor, bounds] = await Promise.all([
    client.coins(addressOf(payerOf(code)), rules.assetId),
    client.feeFloor(),
    client.bounds(),
  ])
  const { fee, feeRate } = wish
  if (fee === undefined && feeRate === undefined && floor > mostFloor) {
    const asked = `the node at ${client.rest} asks ${formatAmount(BigInt(floor))} for 1000 bytes at present`
    throw new UserError(
      `${asked}, and more than ${formatAmount(BigInt(mostFloor))} is not paid unasked: say what you pay with --fee`,
    )
  }
  if (feeRate !== undefined && feeRate < floor) {
    throw new UserError(
      `--fee-rate ${feeRate / 1000} is too low: the node at ${client.rest} asks ${floor / 1000} sela a byte at present`,
      2,
    )
  }
  return { ...payment(context, { code, coins, terms: termsOf(rules, floor) }, wish), ...defined({ bounds }) }
}

/**
 * It could be a lie.
 * @tuning number: units of 10⁻⁸ for 1000 bytes that are paid because a node says so
 */
const mostFloor = 10_000_000

/** A payment with coins that are known. */
export function payment(
  { random }: Pick<CliContext, 'random'>,
  { code, coins, terms }: { code: Uint8Array; coins: readonly SpendableCoin[]; terms: Terms },
  { fee, feeRate }: FeeWish,
): PricedPayment {
  const prices = feeRate === undefined ? terms.fee : { ...terms.fee, floor: feeRate }
  return { ...terms, code, coins, fee: fee ?? prices, prices: terms.fee, random }
}

/** Refuses a fee that the user chose and that is less than what is asked for the transaction. */
export function requireEnough(built: UnsignedTransaction, { prices }: PricedPayment, newLeaf = false): void {
  const { fee, transaction } = built
  const needed = neededFee(transaction, prices, newLeaf)
  if (fee >= needed) return
  throw new UserError(
    `--fee ${formatAmount(fee)} is too low: ${formatAmount(needed)} is asked for this transaction, whose signed part has ` +
      `${transaction.unsignedSize} bytes; without --fee that is paid`,
    2,
  )
}

/** Signs with one key, which must be all that the transaction needs. */
export function signAll({ transaction }: UnsignedTransaction, privateKey: Uint8Array): Transaction {
  const signed = signTransaction(transaction, [privateKey])
  if (signed.missing.length > 0) throw new UserError(`signatures of ${signed.missing.join(', ')} are missing`)
  return signed.transaction
}

/** Codes of a node for coins that were spent since it listed them. */
const spentMeanwhile: readonly (number | undefined)[] = [
  interfaceErrors['tx-double-spend'].rest,
  interfaceErrors['tx-input-unknown'].rest,
]

/** Whether a node refused a transaction because its coins were spent since it listed them. */
export function isSpentMeanwhile(error: unknown): boolean {
  return error instanceof NodeRefusal && spentMeanwhile.includes(error.code)
}

/** Sends what is built of coins that the node lists; built again, of others, where another transaction spent them meanwhile. */
export function sendBuilt<Built extends { readonly transaction: Transaction }>(
  build: () => Promise<Built>,
  broadcastIt: (transaction: Transaction) => Promise<Sent>,
): Promise<{ readonly built: Built; readonly sent: Sent }> {
  return choosingAgain(async () => {
    const built = await build()
    return { built, sent: await broadcastIt(built.transaction) }
  }, isSpentMeanwhile)
}

/** Milliseconds of a wait after which it is announced. */
const noticeAfter = 2_000

type BroadcastOptions = Pick<SendOptions, 'wait'> & OutputOptions & { readonly replace?: boolean }

/**
 * Sends a transaction to the node and, unless `wait` is false, waits for its block. Only with `replace` it takes the place of another one
 * that waits and spends the same. A wait of more than two seconds is announced,
 * with the reason if the chain is stalled; not with --json, where standard error holds nothing but the JSON of a failure.
 */
export function broadcast(
  context: CliContext,
  client: NodeClient,
  transaction: Transaction,
  options: BroadcastOptions,
): Promise<Sent> {
  const { txid } = transaction
  let told = unsureText(client, txid, 'the command was stopped')
  const onAccepted = () => {
    told = `stopped while transaction ${txid} waits for its block: the node has it, and it may be mined; ${client.howToLook(txid)}`
  }
  // All of it at once: the system loses a signal that comes while one listener takes the place of another.
  return unlessStopped(sendAndWait(context, client, transaction, { ...options, onAccepted }), () => told)
}

async function sendAndWait(
  context: CliContext,
  client: NodeClient,
  transaction: Transaction,
  { wait, json, replace = false, onAccepted }: BroadcastOptions & { onAccepted(): void },
): Promise<Sent> {
  const { txid } = transaction
  const isKnown = await send(client, transaction, replace)
  onAccepted()
  if (!wait) return { txid, isKnown, ...defined({ block: isKnown ? await minedBlock(client, txid) : undefined }) }
  let waiting = true
  const announce = async () => {
    context.err(`accepted ${txid}, waiting for a block\n`)
    // A failure is reported by the wait itself.
    const stalled = await client.stalled().catch(() => undefined)
    if (stalled !== undefined && waiting) context.err(linesText([`the chain is stalled: ${stalled}`]))
  }
  const notice = json ? undefined : setTimeout(() => void announce(), noticeAfter)
  try {
    return { txid, isKnown, block: await client.waitForBlock(txid) }
  } finally {
    waiting = false
    clearTimeout(notice)
  }
}

/** The block of a transaction that the node has; undefined while it waits. */
async function minedBlock(client: NodeClient, txid: string): Promise<NodeBlock | undefined> {
  const { blockhash = '' } = (await client.transaction(txid)) ?? {}
  return blockhash === '' ? undefined : client.blockByHash(blockhash)
}

/**
 * Resolves with whether the node had the transaction before: a file may be sent twice. No answer → the node may have taken it: the message
 * must not invite to pay a second time.
 */
async function send(client: NodeClient, transaction: Transaction, replace: boolean): Promise<boolean> {
  try {
    await client.sendRawTransaction(transaction.toHex(), replace ? {} : { replace })
    return false
  } catch (error) {
    if (error instanceof NodeRefusal && error.code === interfaceErrors['tx-known'].rest) return true
    const refused = error instanceof NodeRefusal || (error instanceof NoAnswer && !error.mayHaveArrived)
    if (refused || !(error instanceof UserError)) throw error
    throw new UserError(unsureText(client, transaction.txid, error instanceof NoAnswer ? error.fact : error.message))
  }
}

function unsureText(client: NodeClient, txid: string, why: string): string {
  return (
    `transaction ${txid} was sent, and it is not known whether the node took it: ${why}. ` +
    `It may still be mined, so do not replace it by another one; ${client.howToLook(txid)}`
  )
}

/** The JSON of {@link Sent}. */
export function sentJson({ txid, block }: Sent): Record<string, unknown> {
  return { txid, ...(block === undefined ? {} : { blockhash: block.hash, height: block.height }) }
}

/** The sentence of {@link Sent} for text output. */
export function sentText({ block, isKnown = false }: Sent): string {
  if (isKnown) return block === undefined ? 'Sent before; it waits for a block.' : 'Sent before, and mined.'
  return block === undefined ? 'Sent.' : 'Sent and mined.'
}

/** The rows of {@link Sent} for text output. */
export function sentRows({ txid, block }: Sent): [string, string][] {
  const blockText = block === undefined ? 'not mined yet' : `${block.height}  ${block.hash}`
  return [
    ['txid', txid],
    ['block', blockText],
  ]
}
