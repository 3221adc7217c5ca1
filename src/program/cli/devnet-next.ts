import { blockWait } from '../../clients/client/node-client.js'
import type { MiningMode } from '../../node/devnet/mining-mode.js'
import { parseAddress, type ProgramHash } from '../../base/primitives/address.js'
import { parseAmount } from '../../base/primitives/amount.js'
import type { Account } from '../../clients/wallet/accounts.js'
import { sameOptions, shellWord } from './print-output.js'

const payment = '12.5'

/** The parts of a node that the examples depend on. */
interface Dependencies {
  readonly reader: { balance(hash: ProgramHash): { readonly sum: bigint } }
  readonly mempool: { entries(): Iterable<{ readonly did?: { readonly id: string } }> }
  readonly resolver: { resolve(did: string, options: { all: boolean }): Promise<{ readonly status: number }> }
}

/** The facts about a chain by which accounts are chosen. */
export interface Facts {
  /** In units of 10^-8. */
  balance(address: string): Promise<bigint>
  /** As in a resolve result: 0 valid, 1 expired, 2 deactivated, 3 none. */
  status(did: string): Promise<number>
  /** DIDs whose next operation waits for a block. */
  readonly pending: ReadonlySet<string | undefined>
}

/**
 * Example commands for a devnet that has just started. Each works as printed, for any block time and for an older data directory.
 */
export function nextCommands(
  { reader, mempool, resolver }: Dependencies,
  accounts: readonly Account[],
  ports: { readonly rest: number; readonly rpc: number },
  mining: MiningMode,
): Promise<string[]> {
  const late = mining.kind === 'manual' || (mining.kind === 'interval' && mining.seconds * 1000 >= blockWait)
  const facts: Facts = {
    balance: async (address) => reader.balance(parseAddress(address) as ProgramHash).sum,
    status: async (did) => (await resolver.resolve(did, { all: false })).status,
    pending: new Set(Array.from(mempool.entries(), ({ did }) => did?.id)),
  }
  return commandsFor(facts, accounts, { ...ports, late })
}

/** The same for any node. `late`: no block within the client's wait. `genesis`: the chain, unless it is the devnet. */
export async function commandsFor(
  facts: Facts,
  accounts: readonly Account[],
  at: { readonly rest: number; readonly rpc: number; readonly late?: boolean; readonly genesis?: string },
): Promise<string[]> {
  const { late = false, genesis } = at
  const where = sameOptions({ rest: `http://127.0.0.1:${at.rest}` })
  const sending = `${late ? ' --no-wait' : ''}${genesis === undefined ? '' : ` --genesis ${genesis}`}${where}`
  const { payer, recipient, did, change } = await chooseAccounts(facts, accounts)
  const mine = shellWord(JSON.stringify({ method: 'dev_mine' }))
  return [
    `npx didledger wallet send --devnet-account ${payer} --to ${recipient} --amount ${payment}${sending}`,
    ...(change === undefined ? [] : [`npx didledger did ${change}${sending}`]),
    ...(late ? [`curl -s http://127.0.0.1:${at.rpc} -H 'content-type: application/json' -d ${mine}`] : []),
    `npx didledger did resolve ${did}${where}`,
  ]
}

/** Chooses payer, recipient, and a DID to create; if all exist, one to update; if none can be, one to resolve. */
async function chooseAccounts({ balance, status, pending }: Facts, accounts: readonly Account[]) {
  const least = 2n * (parseAmount(payment) as bigint)
  const balances = await Promise.all(accounts.map(({ address }) => balance(address)))
  const funded = accounts.filter((_, i) => (balances[i] as bigint) >= least)
  const payer = funded[0]?.index ?? 0
  const recipient = accounts[payer === 1 ? 0 : 1]?.address
  // Accounts 0 and 1 are for transfers, so they come last.
  const states = await Promise.all(
    [...accounts.slice(2), ...accounts.slice(0, 2)]
      .filter((account) => funded.includes(account) && !pending.has(account.did))
      .map(async ({ index, did }) => ({ index, did, status: await status(did) })),
  )
  const unregistered = states.find((state) => state.status === 3)
  if (unregistered !== undefined) {
    const { index, did } = unregistered
    return { payer, recipient, did, change: `create --devnet-account ${index}` }
  }
  const alive = states.find((state) => state.status !== 2)
  if (alive === undefined) return { payer, recipient, did: accounts[2]?.did, change: undefined }
  return { payer, recipient, did: alive.did, change: `update --devnet-account ${alive.index} --years 1` }
}
