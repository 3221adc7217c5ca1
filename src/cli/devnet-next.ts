import { blockWait } from '../client/node-client.js'
import type { MiningMode } from '../devnet/devnet.js'
import type { Node } from '../node/start-node.js'
import { parseAddress, type ProgramHash } from '../primitives/address.js'
import { parseAmount } from '../primitives/amount.js'
import type { Account } from '../wallet/accounts.js'
import { sameOptions, shellWord } from './print-output.js'

const payment = '12.5'

type Parts = Pick<Node, 'reader' | 'mempool' | 'resolver'>

/** What is known of a chain where accounts are chosen. */
export interface Facts {
  /** In units of 10^-8. */
  balance(address: string): Promise<bigint>
  /** As in a resolve result: 0 valid, 1 expired, 2 deactivated, 3 none. */
  status(did: string): Promise<number>
  /** DIDs whose next operation waits for a block. */
  readonly pending: ReadonlySet<string | undefined>
}

/**
 * Commands to try first on a devnet that has just started, each of which works as it stands: whenever blocks are made, and
 * whatever the accounts of an older data directory have done already.
 */
export function nextCommands(
  { reader, mempool, resolver }: Parts,
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

/** The same for any node: `late` says that nobody makes a block in time, `genesis` which chain it is unless that is the devnet. */
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

/** Who can pay whom, and whose DID can be created; where all exist, whose can be updated, and else one to look at. */
async function chooseAccounts({ balance, status, pending }: Facts, accounts: readonly Account[]) {
  const least = 2n * (parseAmount(payment) as bigint)
  const balances = await Promise.all(accounts.map(({ address }) => balance(address)))
  const funded = accounts.filter((_, i) => (balances[i] as bigint) >= least)
  const payer = funded[0]?.index ?? 0
  const recipient = accounts[payer === 1 ? 0 : 1]?.address
  // From account 2 on: the others are for transfers, until nobody else is left.
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
