import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { NodeClient } from '../../../src/clients/client/node-client.js'
import { callRpc } from '../../../src/clients/client/rpc.js'
import { hex, reversed } from '../../../src/base/primitives/bytes.js'
import { genesisBlock } from '../../../src/base/primitives/genesis.js'
import type { Spec } from '../../../src/base/primitives/spec.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { type CraftedInput, craft, type CraftedOutput } from '../../../test/support/builders/blocks.js'
import { testAddress } from '../../../test/support/builders/spec.js'
import type { Places } from '../../bench/local-nodes.js'

/** Shared by the attacks: nodes, coins, and the big block. */

/** One round of an attack; resolves when it was carried out, and rejects when it could not be. */
export type Attack = (scene: Scene) => Promise<void>

/** Fee of each hostile transaction, of any size. */
const fee = 1_000_000n
/** Milliseconds that a request of an attacker waits for its answer. */
const timeout = 60_000

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
  readonly #coins = new Map<number, Coin>()

  constructor(spec: Spec, nodes: readonly Places[], payers: number) {
    this.spec = spec
    this.nodes = nodes
    const [coinbase] = genesisBlock(spec).transactions
    Object.values(purses).forEach((person, i) => {
      this.#coins.set(person, { txid: coinbase?.hash ?? new Uint8Array(32), index: payers + i, value: purseValue })
    })
  }

  get target(): Places {
    return this.at(0)
  }

  at(index: number): Places {
    const node = this.nodes[index]
    if (node === undefined) throw new RangeError(`there is no node ${index}`)
    return node
  }

  /** A transaction that spends the coin of a person; the change is its last output. */
  build(person: number, outputs: readonly CraftedOutput[], changes: Parameters<typeof craft>[4] = {}): Transaction {
    const { value, ...coin } = this.#coin(person)
    const paid = outputs.reduce((sum, output) => sum + output.value, fee)
    return craft(this.spec, [coin], [...outputs, { to: person, value: value - paid }], [person], changes)
  }

  /** Sends a transaction of {@link build}; the person continues with the change. */
  async pay(person: number, transaction: Transaction, node = this.target): Promise<void> {
    await this.send(transaction, node)
    const index = transaction.outputs.length - 1
    this.#coins.set(person, { txid: transaction.hash, index, value: transaction.outputs[index]?.value ?? 0n })
  }

  async send(transaction: Transaction, node = this.target): Promise<void> {
    await new NodeClient({ rest: node.rest, timeout }).sendRawTransaction(transaction.toHex())
  }

  /** Sends a transaction that has to be refused. */
  async sendInVain(transaction: Transaction, node = this.target): Promise<void> {
    const taken = await this.send(transaction, node).then(
      () => true,
      () => false,
    )
    if (taken) throw new Error('a wrong transaction was taken')
  }

  /** The height of the block with a transaction; undefined if there is none. */
  async minedAt(txid: string): Promise<number | undefined> {
    const found = await new NodeClient({ rest: this.at(1).rest, timeout }).transaction(txid)
    if (found === undefined || found.blockhash === '') return undefined
    const header = await callRpc(this.at(1).rpc, 'getblock', { blockhash: found.blockhash, verbosity: 1 }, { timeout })
    return (header as { height: number }).height
  }

  /** The hash of a block, in wire order. */
  async hashAt(height: number): Promise<Uint8Array> {
    return reversed(hex(await this.idAt(height)))
  }

  async idAt(height: number): Promise<string> {
    const hash = await callRpc(this.at(1).rpc, 'getblockhash', { height }, { timeout })
    return hash as string
  }

  /** Lets a person continue from one of its coins. */
  setCoin(person: number, coin: Coin): void {
    this.#coins.set(person, coin)
  }

  coinOf(person: number): Coin {
    return this.#coin(person)
  }

  #coin(person: number): Coin {
    const coin = this.#coins.get(person)
    if (coin === undefined) throw new RangeError(`person ${person} has no coins`)
    return coin
  }
}

export function portOf(url: string): number {
  return Number(new URL(url).port)
}

/** The port in a multiaddr. */
export function p2pPortOf({ p2p }: Places): number {
  return Number(/\/tcp\/(\d+)/.exec(p2p[0] ?? '')?.[1])
}

/** A connection from one of the addresses of this machine; errors end it and nothing else. */
export function dial(port: number, localAddress: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
    socket.on('error', () => {})
  })
}

/** An address that leads to a node, which sees connections from another address of this machine. */
export async function doorFrom(localAddress: string, port: number): Promise<{ address: string; close(): void }> {
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
