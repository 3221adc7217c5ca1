import { Type } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import { formatAmount } from '../../../base/primitives/amount.js'
import { toHex } from '../../../base/primitives/bytes.js'
import { poolFees } from '../../../base/primitives/fees.js'
import { paramsAt } from '../../../base/primitives/spec.js'
import { apiLimits } from '../api-limits.js'
import { readAmount, readParameter } from '../parameters.js'
import { chainKey, StreamedAnswer } from '../streams/streamed-answer.js'
import { addressHistory } from '../results/address-history.js'
import { balance } from '../results/coin-results.js'
import { type SpendableCoins, spendableCoins, unspentCoins, writeCoins } from '../results/unspent-results.js'
import * as schemas from '../schemas/coin-schemas.js'
import { addressParam, amount, amountParam, oneOf, pageParams, rowsUnasked } from '../schemas/common-schemas.js'
import { count } from '../schemas/number-schemas.js'
import { addressHistorySchema } from '../schemas/transaction-schemas.js'
import { addressesParam, coinsMemory, mostCoins, readAddresses } from './listed-coins.js'
import { method, type RpcMethod } from './method.js'

const utxotype = Type.Optional(
  oneOf(['mixed', 'normal', 'vote'], 'which outputs, mixed by default; this chain has no others than normal ones'),
)

/** Coins and history of addresses, and fees of transactions. */
export const addressMethods: readonly RpcMethod[] = [
  method({
    name: 'getreceivedbyaddress',
    lasts: 'chain',
    summary: 'Sum of the unspent outputs of an address on the chain, immature and locked ones included.',
    params: Type.Object({ address: addressParam }),
    result: amount(),
    run: ({ reader }, { address }) => balance(reader, readParameter('address', 'address', address)),
  }),
  method({
    name: 'listunspent',
    lasts: 'chain',
    summary:
      `Unspent outputs of addresses on the chain, oldest first, with what decides when they can be spent; ` +
      `of more than ${apiLimits.listedCoins} those worth most.`,
    params: Type.Object({
      addresses: addressesParam,
      utxotype,
    }),
    result: schemas.listedCoins,
    run: (context, { addresses, utxotype: type }) => {
      const owners = readAddresses(addresses)
      if (type === 'vote') return []
      const { reader } = context
      const most = mostCoins(context)
      return new StreamedAnswer({
        key: chainKey(reader, 'listunspent', most, ...owners.map(toHex)),
        repeatable: false,
        search: coinsMemory(context),
        write: async (sink) => writeCoins(sink, reader, await unspentCoins(reader, owners, most, sink)),
      })
    },
  }),
  method({
    name: 'getutxosbyamount',
    lasts: 'chain',
    summary: 'As few unspent outputs of an address as add up to an amount and can be spent in the next block.',
    params: Type.Object({ address: addressParam, amount: amountParam, utxotype }),
    result: schemas.listedCoins,
    run: (context, { address, amount: text, utxotype: type }) => {
      const { reader, mempool } = context
      const needed = readAmount('amount', text, reader.chain.spec.maxMoney)
      const owner = readParameter('address', 'address', address)
      if (type === 'vote') throw tooLittle(needed, { sum: 0n, pending: 0n, locked: 0n })
      const most = mostCoins(context)
      return new StreamedAnswer({
        key: chainKey(reader, 'spendable', mempool.additions, mempool.size, most, toHex(owner), String(needed)),
        repeatable: false,
        search: coinsMemory(context),
        write: async (sink) => {
          const spendable = await spendableCoins(context, owner, needed, most, sink)
          if (spendable.sum < needed) throw tooLittle(needed, spendable)
          await writeCoins(sink, reader, spendable.coins)
        },
      })
    },
  }),
  method({
    name: 'getaddresshistory',
    lasts: 'chain',
    summary:
      `Transactions on the chain that paid an address or spent from it, newest first; those that wait in the pool are not among them. A page ` +
      `that has read ${apiLimits.pageBytes / 1024 / 1024} MiB ends early.`,
    params: Type.Object({ address: addressParam, ...pageParams }),
    result: addressHistorySchema,
    run: (context, { address, before, limit = rowsUnasked }) =>
      addressHistory(context, address, readParameter('address', 'address', address), { before, limit }),
  }),
  method({
    name: 'estimatesmartfee',
    summary: 'A fee in units of 10^-8 for 1000 bytes that a transaction of any size can go by.',
    params: Type.Object({
      confirmations: Type.Integer({
        minimum: 0,
        maximum: 25,
        description: 'within how many blocks it should be mined',
      }),
    }),
    result: count('units of 10^-8'),
    run: ({ reader, mempool }, { confirmations }) => {
      const { minimum, perByte, leaf = 0n } = poolFees(paramsAt(reader.chain.spec, reader.height + 1).fees)
      // Covers the smallest transaction, 200 bytes, and the smallest revoke, 340, with the price of all their bytes.
      const once = [5n * minimum, 3n * (minimum + leaf)].reduce((a, b) => (a > b ? a : b))
      const least = once + 1000n * perByte
      const asked = least + BigInt(mempool.floor)
      const usual = asked > usualFee ? asked : usualFee
      return Number(confirmations === 0 ? 2n * usual : usual)
    },
  }),
]

/** The first words are those of the family's nodes, for which its clients look. */
function tooLittle(needed: bigint, { sum, pending, locked }: Omit<SpendableCoins, 'coins'>): RuleError {
  const rest = `${formatAmount(pending)} wait in the pool, ${formatAmount(locked)} are immature or locked`
  return new RuleError(
    'coins-too-few',
    `not enough utxo: ${formatAmount(sum)} can be spent of ${formatAmount(needed)}; ${rest}`,
  )
}

/** The fee that the family's nodes answer, in units of 10^-8. */
const usualFee = 10_000n
