import type { Chain } from '../chain/chain.js'
import type { Coin, StateView } from '../consensus/ledger.js'
import { type CredentialState, type DidState, nextCredentialState } from '../../identity/did/state.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { displayHash } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Outpoint } from '../../base/primitives/transaction-fields.js'
import { outputValueOf } from '../../base/primitives/transaction-parts.js'
import { isGivenUp } from '../storage/rows/prune-rows.js'
import { tables } from '../storage/rows/tables.js'
import { ChainCoins } from './chain-coins.js'
import type { PoolGraph } from './graph.js'
import type { PoolEntry, PoolOperation } from './pool-entry.js'

/** State of the chain with the pool on top, as the next block would see it. */
export class PoolView implements StateView {
  readonly #chain: Chain
  readonly #coins: ChainCoins
  readonly #state: StateView
  readonly #graph: PoolGraph
  readonly #without: ReadonlySet<PoolEntry>

  /** `coins` caches coins of the chain, shared by views of the same transaction. */
  constructor(chain: Chain, graph: PoolGraph, without: ReadonlySet<PoolEntry>, coins = new ChainCoins(chain)) {
    this.#chain = chain
    this.#coins = coins
    this.#state = chain.state
    this.#graph = graph
    this.#without = without
  }

  get time(): number {
    return this.#state.time
  }

  coin(outpoint: Outpoint): Coin | undefined {
    const spender = this.#graph.spender(outpoint)
    if (spender !== undefined && !this.#without.has(spender)) {
      throw new RuleError(
        'tx-double-spend',
        `${nameOf(outpoint)} is spent by ${spender.transaction.txid}, which is in the pool`,
      )
    }
    const pooled = this.#graph.coin(outpoint, this.#chain.tip.header.height + 1)
    const coin = pooled ?? this.#coins.coin(outpoint)
    if (coin === undefined && this.#wasSpent(outpoint)) {
      throw new RuleError('tx-double-spend', `${nameOf(outpoint)} was spent on the chain`)
    }
    return coin
  }

  did(did: string): DidState | undefined {
    return this.#pending(did).at(-1)?.state ?? this.#state.did(did)
  }

  issuer(did: string): DidState | undefined {
    return this.#state.issuer(did)
  }

  credential(id: string, signer: string): CredentialState | undefined {
    const changes = this.#pending(signer).flatMap(({ credential }) => (credential?.id === id ? [credential] : []))
    return changes.reduce(nextCredentialState, this.#state.credential(id, signer))
  }

  otherCredential(id: string, signer: string): CredentialState | undefined {
    return this.#state.otherCredential(id, signer)
  }

  /** That of the chain: a proof in the pool gives way to a later one. */
  provedHeight(genesis: Hash): number | undefined {
    return this.#state.provedHeight(genesis)
  }

  /** Pending operations of a DID in order of application. */
  #pending(did: string): readonly PoolOperation[] {
    return this.#graph.operations(did).flatMap((entry) => (this.#without.has(entry) ? [] : (entry.did ?? [])))
  }

  /** Whether the output existed: its transaction is on the chain and has it. */
  #wasSpent({ txid, index }: Outpoint): boolean {
    const location = tables.location.get(this.#chain.database, txid)
    if (location === undefined) return false
    const { height, index: position } = location
    const row = this.#chain.database.get(tables.transaction.key(height, position))
    // Of a transaction that its block gave up, most outputs were spent.
    if (row === undefined) return isGivenUp(this.#chain.database, location)
    return (outputValueOf(row, index) ?? 0n) > 0n
  }
}

function nameOf({ txid, index }: Outpoint): string {
  return `${displayHash(txid)}:${index}`
}
