import { blockWait } from '../client/node-client.js'
import type { MiningMode } from '../devnet/devnet.js'
import type { Node } from '../node.js'
import { parseAddress, type ProgramHash } from '../primitives/address.js'
import { parseAmount } from '../primitives/amount.js'
import type { Account } from '../wallet/accounts.js'
import { sameOptions, shellWord } from './output.js'

const payment = '12.5'

type Parts = Pick<Node, 'reader' | 'mempool' | 'resolver'>

/**
 * Commands to try first on a devnet that has just started, each of which works as it stands: whenever blocks are made, and
 * whatever the accounts of an older data directory have done already.
 */
export async function nextCommands(
  node: Parts,
  accounts: readonly Account[],
  ports: { readonly rest: number; readonly rpc: number },
  mining: MiningMode,
): Promise<string[]> {
  const where = sameOptions({ rest: `http://127.0.0.1:${ports.rest}` })
  const late = mining.kind === 'manual' || (mining.kind === 'interval' && mining.seconds * 1000 >= blockWait)
  const sending = `${late ? ' --no-wait' : ''}${where}`
  const { payer, recipient, did, change } = await chooseAccounts(node, accounts)
  const mine = shellWord(JSON.stringify({ method: 'dev_mine' }))
  return [
    `npx didledger wallet send --devnet-account ${payer} --to ${recipient} --amount ${payment}${sending}`,
    ...(change === undefined ? [] : [`npx didledger did ${change}${sending}`]),
    ...(late ? [`curl -s http://127.0.0.1:${ports.rpc} -H 'content-type: application/json' -d ${mine}`] : []),
    `npx didledger did resolve ${did}${where}`,
  ]
}

/** Who can pay whom, and whose DID can be created; where all exist, whose can be updated, and else one to look at. */
async function chooseAccounts({ reader, mempool, resolver }: Parts, accounts: readonly Account[]) {
  const least = 2n * (parseAmount(payment) as bigint)
  const funded = accounts.filter(({ address }) => reader.balance(parseAddress(address) as ProgramHash).sum >= least)
  const payer = funded[0]?.index ?? 0
  const recipient = accounts[payer === 1 ? 0 : 1]?.address
  const pending = new Set(Array.from(mempool.entries(), ({ did }) => did?.id))
  // From account 2 on: the others are for transfers, until nobody else is left.
  const states = await Promise.all(
    [...accounts.slice(2), ...accounts.slice(0, 2)]
      .filter((account) => funded.includes(account) && !pending.has(account.did))
      .map(async ({ index, did }) => ({ index, did, status: (await resolver.resolve(did, { all: false })).status })),
  )
  const unregistered = states.find(({ status }) => status === 3)
  if (unregistered !== undefined) {
    const { index, did } = unregistered
    return { payer, recipient, did, change: `create --devnet-account ${index}` }
  }
  const alive = states.find(({ status }) => status !== 2)
  if (alive === undefined) return { payer, recipient, did: accounts[2]?.did, change: undefined }
  return { payer, recipient, did: alive.did, change: `update --devnet-account ${alive.index} --years 1` }
}
