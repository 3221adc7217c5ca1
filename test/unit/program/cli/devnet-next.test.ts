import { describe, expect, it } from 'vitest'
import { nextCommands } from '../../../../src/program/cli/devnet-next.js'
import { parseAddress } from '../../../../src/base/primitives/address.js'
import { equalBytes } from '../../../../src/base/primitives/bytes.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'

type Parts = Parameters<typeof nextCommands>[0]
type Status = 0 | 1 | 2 | 3

const accounts = Array.from({ length: 10 }, (_, n) => devnetAccount(n))
const ports = { rest: 20334, rpc: 20336 }
const all = (status: Status) => Array.from({ length: 10 }, (): Status => status)

/** A node on which DID n has the n-th status; these accounts are out of coins, and these DIDs have operations in the pool. */
function nodeWith(statuses: readonly Status[], { poor = [] as number[], pending = [] as number[] } = {}): Parts {
  const poorHashes = poor.map((n) => parseAddress(accounts[n]?.address ?? '') as Uint8Array)
  const statusOf = (did: string) => statuses.find((_, n) => accounts[n]?.did === did) ?? 3
  return {
    reader: {
      balance: (hash: Uint8Array) => ({ sum: poorHashes.some((p) => equalBytes(p, hash)) ? 5n : 10n ** 12n, count: 1 }),
    },
    mempool: { entries: () => pending.map((n) => ({ did: { id: accounts[n]?.did ?? '' } })) },
    resolver: { resolve: (did: string) => Promise.resolve({ did, status: statusOf(did) }) },
  }
}

const automine = { kind: 'automine' } as const

describe('the commands that a devnet prints', () => {
  it('pay from account 0 and register the DID of account 2 on a new chain', async () => {
    expect(await nextCommands(nodeWith([]), accounts, ports, automine)).toEqual([
      `npx didledger wallet send --devnet-account 0 --to ${devnetAccount(1).address} --amount 12.5`,
      'npx didledger did create --devnet-account 2',
      `npx didledger did resolve ${devnetAccount(2).did}`,
    ])
  })

  it('do not wait where nobody makes a block in time, and make one', async () => {
    const late = [
      `npx didledger wallet send --devnet-account 0 --to ${devnetAccount(1).address} --amount 12.5 --no-wait --rest http://127.0.0.1:5`,
      'npx didledger did create --devnet-account 2 --no-wait --rest http://127.0.0.1:5',
      `curl -s http://127.0.0.1:7 -H 'content-type: application/json' -d '{"method":"dev_mine"}'`,
      `npx didledger did resolve ${devnetAccount(2).did} --rest http://127.0.0.1:5`,
    ]
    const at = { rest: 5, rpc: 7 }
    expect(await nextCommands(nodeWith([]), accounts, at, { kind: 'manual' })).toEqual(late)
    expect(await nextCommands(nodeWith([]), accounts, at, { kind: 'interval', seconds: 120 })).toEqual(late)
    const waiting = await nextCommands(nodeWith([]), accounts, at, { kind: 'interval', seconds: 119 })
    expect(waiting).toEqual(late.filter((_, i) => i !== 2).map((command) => command.replace(' --no-wait', '')))
  })

  const registered = (...accounts: number[]) => all(3).map((status, n) => (accounts.includes(n) ? 0 : status))
  it.each<[string, Parts, number, string | undefined]>([
    ['account 2 exists', nodeWith(registered(0, 2)), 3, 'create'],
    ['account 2 is pending', nodeWith([], { pending: [2, 3] }), 4, 'create'],
    ['account 2 cannot pay', nodeWith([], { poor: [2] }), 3, 'create'],
    ['accounts 2 to 9 exist', nodeWith(registered(2, 3, 4, 5, 6, 7, 8, 9)), 0, 'create'],
    ['all exist', nodeWith(all(0)), 2, 'update'],
    ['all have expired', nodeWith(all(1)), 2, 'update'],
    ['all but 5 are deactivated', nodeWith(all(2).map((status, n) => (n === 5 ? 1 : status))), 5, 'update'],
    ['all are deactivated', nodeWith(all(2)), 2, undefined],
  ])('choose another DID when %s', async (_, node, account, change) => {
    const [, ...commands] = await nextCommands(node, accounts, ports, automine)
    const years = change === 'update' ? ' --years 1' : ''
    expect(commands).toEqual([
      ...(change === undefined ? [] : [`npx didledger did ${change} --devnet-account ${account}${years}`]),
      `npx didledger did resolve ${devnetAccount(account).did}`,
    ])
  })

  it('let an account pay that can', async () => {
    const [send] = await nextCommands(nodeWith([], { poor: [0] }), accounts, ports, automine)
    expect(send).toBe(`npx didledger wallet send --devnet-account 1 --to ${devnetAccount(0).address} --amount 12.5`)
  })
})
