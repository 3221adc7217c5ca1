import { ChainReader } from '../../ledger/chain/reader.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { parseAddress, type ProgramHash } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { tables } from '../../ledger/storage/rows/tables.js'
import type { Account, SigningAccount } from '../../clients/wallet/accounts.js'
import type { Payee } from '../../clients/wallet/build-transaction.js'
import {
  devnetAccountCount,
  devnetAccountFunds,
  devnetAccountsOf,
  devnetMnemonic,
  isDevnetMnemonic,
} from '../../clients/wallet/devnet-accounts.js'
import type { DevnetParts } from './devnet-parts.js'
import type { Faucet } from './faucet.js'

/** Which accounts have coins when a devnet starts. */
export interface Funding {
  /** Number of accounts, the first ones. */
  readonly accounts?: number
  /** BIP-39 mnemonic of the accounts; that of every devnet when absent. */
  readonly mnemonic?: string
  /** Each has at least so much, in units of 10^-8; absent: 10 000 coins for those that never had any. */
  readonly balance?: bigint
}

interface FundingParts extends Pick<DevnetParts, 'chain' | 'mempool'> {
  readonly faucet: Faucet
}

/** The accounts that have coins when a devnet starts. */
export function fundedAccounts({
  accounts = devnetAccountCount,
  mnemonic = devnetMnemonic,
}: Funding): SigningAccount[] {
  const account = devnetAccountsOf(mnemonic)
  return Array.from({ length: accounts }, (_, index) => account(index))
}

/**
 * Pays from the faucet what accounts lack, in one transaction; returns whether one waits for its block. More than the faucet has
 * is a {@link UserError}.
 */
export async function fundAccounts(
  parts: FundingParts,
  accounts: readonly Account[],
  funding: Funding,
): Promise<boolean> {
  const { mempool, faucet } = parts
  const lacking = await recipientsOf(parts, accounts, funding)
  if (lacking.length === 0) return false
  const pooled = [...mempool.entries()].flatMap(({ transaction }) => transaction.outputs)
  const isPooled = ({ programHash: payee }: Payee) => pooled.some(({ programHash }) => equalBytes(programHash, payee))
  const sending = lacking.filter((recipient) => !isPooled(recipient))
  if (sending.length === 0) return true
  try {
    await faucet.send(sending)
    return true
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError(`the faucet cannot pay ${whatOf(sending, funding)}; ${error.message}`)
  }
}

function whatOf(sending: readonly Payee[], { balance }: Funding): string {
  if (balance === undefined) return `${sending.length} more accounts`
  const sum = sending.reduce((all, { value }) => all + value, 0n)
  return `${formatAmount(sum)} to ${sending.length} accounts, so that each has ${formatAmount(balance)}`
}

async function recipientsOf(
  { chain }: FundingParts,
  accounts: readonly Account[],
  { mnemonic = devnetMnemonic, balance }: Funding,
): Promise<Payee[]> {
  const reader = new ChainReader(chain)
  const lacking: Payee[] = []
  for (const { index, address } of accounts) {
    const programHash = parseAddress(address) as ProgramHash
    if (balance !== undefined) {
      const value = balance - reader.balance(programHash).sum
      if (value > 0n) lacking.push({ programHash, value })
      continue
    }
    // The genesis block pays the first ones of its mnemonic.
    if (index < devnetAccountCount && isDevnetMnemonic(mnemonic)) continue
    const [touched] = await chain.database.rows(tables.history.range(programHash), { limit: 1 })
    if (touched === undefined) lacking.push({ programHash, value: devnetAccountFunds })
  }
  return lacking
}
