import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { genesisBlock } from '../../../src/base/primitives/genesis.js'
import type { Spec } from '../../../src/base/primitives/spec.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { NodeClient } from '../../../src/clients/client/node-client.js'
import { craft, type CraftedInput, type CraftedOutput } from '../../../test/support/builders/blocks.js'
import { testAddress } from '../../../test/support/builders/spec.js'
import type { Places } from '../../bench/processes.js'

/** Shared by the attacks: nodes, coins, and the big block. */

/** One round of an attack; resolves when it was carried out, and rejects when it could not be. */
export type Attack = (scene: Scene) => Promise<void>

/** Fee of each hostile transaction, of any size. */
const fee = 1_000_000n
/** Milliseconds that a request of an attacker waits for its answer. */
const timeout = 60_000

/** Address of a proxy that the measured node trusts to report the addresses of clients. */
export const trustedProxy = '127.0.0.2'

/** Persons of test/support/builders/spec.ts with coins from genesis: one for each attack that pays, so that they do not interfere. */
export const purses = { issuer: 40, documents: 41, wide: 42, multisig: 43, framed: 44, framing: 45 } as const
/** Coins of each, in units of 10^-8. */
const purseValue = 1_000_000n * 100_000_000n

/** Genesis allocations of these persons, after all others. */
export const hostileAllocations = Object.values(purses).map((person) => ({
  address: testAddress(person),
  amount: String(purseValue),
}))

export interface Coin extends CraftedInput {
  readonly value: bigint
}

export class Scene {
  readonly spec: Spec
  /** The first one is attacked. */
  readonly nodes: readonly Places[]
  /** A block of some megabytes, once there is one. */
  big: { readonly height: number; readonly hash: string } | undefined
  /** The coin that each person spends next. */
  readonly coins: Map<number, Coin>

  constructor(spec: Spec, nodes: readonly Places[], payers: number) {
    this.spec = spec
    this.nodes = nodes
    const { hash: txid } = genesisBlock(spec).transactions[0] as Transaction
    const coin = (i: number) => ({ txid, index: payers + i, value: purseValue })
    this.coins = new Map(Object.values(purses).map((person, i) => [person, coin(i)]))
  }

  get target(): Places {
    return this.nodes[0] as Places
  }

  client(node: number): NodeClient {
    return new NodeClient({ rest: (this.nodes[node] as Places).rest, timeout })
  }

  /** A transaction that spends the coin of a person; the change is its last output. */
  build(person: number, outputs: readonly CraftedOutput[], changes: Parameters<typeof craft>[4] = {}): Transaction {
    const { value, ...coin } = this.coins.get(person) as Coin
    const paid = outputs.reduce((sum, output) => sum + output.value, fee)
    return craft(this.spec, [coin], [...outputs, { to: person, value: value - paid }], [person], changes)
  }

  /** Sends a transaction of {@link build}; the person continues with the change. */
  async pay(person: number, transaction: Transaction): Promise<void> {
    await this.send(transaction)
    this.coins.set(person, changeOf(transaction))
  }

  async send(transaction: Transaction): Promise<void> {
    await this.client(0).sendRawTransaction(transaction.toHex())
  }

  /** Sends a transaction that has to be refused. */
  async sendInVain(transaction: Transaction): Promise<void> {
    const taken = await this.send(transaction).then(
      () => true,
      () => false,
    )
    if (taken) throw new Error('a wrong transaction was taken')
  }

  /** The block with a transaction; undefined if there is none. */
  async minedIn(txid: string): Promise<Scene['big']> {
    const found = await this.client(1).transaction(txid)
    if (found === undefined || found.blockhash === '') return undefined
    return this.client(1).blockByHash(found.blockhash)
  }
}

export function changeOf(transaction: Transaction): Coin {
  const index = transaction.outputs.length - 1
  return { txid: transaction.hash, index, value: transaction.outputs[index]?.value ?? 0n }
}

export function bigBlock({ big }: Scene): NonNullable<Scene['big']> {
  if (big === undefined) throw new Error('there is no big block yet')
  return big
}

/** The port in a URL or a multiaddr. */
export function portOf(address: string): number {
  return Number(/(?:\/tcp\/|:)(\d+)/.exec(address)?.[1])
}

/** An address that leads to a node, which sees connections from another address of this machine. */
export async function doorFrom(localAddress: string, { p2p }: Places): Promise<{ address: string; close(): void }> {
  const port = portOf(p2p[0] ?? '')
  const sockets = new Set<Socket>()
  const server = createServer((inner) => {
    const outer = connect({ port, host: '127.0.0.1', localAddress })
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `/ip4/127.0.0.1/tcp/${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
