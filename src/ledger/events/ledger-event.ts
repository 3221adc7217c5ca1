import { type NamedCredential, namedCredential, namedDid } from '../../identity/did/named-did.js'
import { InvariantError } from '../../base/errors/rule-error.js'
import type { PoolEntry } from '../mempool/pool-entry.js'
import { formatAmount } from '../../base/primitives/amount.js'
import type { Block } from '../../base/primitives/block.js'
import { displayHash } from '../../base/primitives/bytes.js'
import type { Header } from '../../base/primitives/header.js'
import type {
  Action,
  ChainEventData,
  CredentialChanged,
  DidChanged,
  EventData,
  TransactionAccepted,
} from '../../base/primitives/chain-event.js'
import { txType } from '../../base/primitives/payload.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { forEachCooperatively } from '../../base/runtime/cooperative.js'

/** An event as it is sent. */
export class LedgerEvent {
  /** Rises by one from event to event; null for an event replayed from the blocks. */
  readonly number: number | null
  readonly data: EventData
  #text: string | undefined

  constructor(number: number | null, data: EventData) {
    this.number = number
    this.data = data
  }

  /** Its JSON object, made once for all receivers. */
  get text(): string {
    this.#text ??= JSON.stringify({ number: this.number, ...this.data })
    return this.#text
  }
}

/** Events of a block in the order in which they are sent; see {@link EventMaker}. */
export async function eventsOf({ header, transactions }: Block, action: Action): Promise<ChainEventData[]> {
  const maker = new EventMaker(header, action)
  await forEachCooperatively(transactions, (transaction) => maker.add(transaction))
  return maker.finish()
}

/**
 * Makes the events of a block of its transactions, given one by one in block order: its operations in block order, or backwards when
 * it is taken back, then the block itself. So a client that has the event of a block has all events of that block.
 */
export class EventMaker {
  readonly #header: Header
  /** Made once: all events of the block share it. */
  readonly #id: string
  readonly #action: Action
  readonly #events: ChainEventData[] = []
  #transactions = 0

  constructor(header: Header, action: Action) {
    this.#header = header
    this.#id = header.id
    this.#action = action
  }

  add({ payload, txid }: Transaction): void {
    this.#transactions++
    if (payload.type !== txType.did) return
    const { operation } = payload
    const at = { operation: operation.operation, txid, height: this.#header.height, blockhash: this.#id }
    const credential = namedCredential(operation)
    this.#events.push(
      credential === undefined
        ? didChanged(this.#action, namedDid(operation), at)
        : credentialChanged(this.#action, credential, at),
    )
  }

  finish(): ChainEventData[] {
    const { height, time, previous } = this.#header
    if (this.#action === 'revert') this.#events.reverse()
    this.#events.push({
      topic: 'block',
      action: this.#action,
      height,
      hash: this.#id,
      previousblockhash: displayHash(previous),
      time,
      transactions: this.#transactions,
    })
    return this.#events
  }
}

type OperationPlace = Pick<DidChanged, 'operation' | 'txid' | 'height' | 'blockhash'>

function didChanged(action: Action, did: string | undefined, place: OperationPlace): DidChanged {
  if (did === undefined) throw new InvariantError(`an operation on the chain names no DID: ${place.txid}`)
  return { topic: 'did', action, did, ...place }
}

function credentialChanged(
  action: Action,
  { id, signer }: NamedCredential,
  { operation, ...place }: OperationPlace,
): CredentialChanged {
  return { topic: 'credential', action, id, operation, signer, ...place }
}

export function acceptedEvent({ transaction, fee }: PoolEntry, replaced: readonly string[]): TransactionAccepted {
  const { txid, bytes, payload } = transaction
  const accepted = { txid, type: payload.type, size: bytes.length, fee: formatAmount(fee) }
  return { topic: 'transaction', action: 'apply', ...accepted, ...(replaced.length > 0 ? { replaces: replaced } : {}) }
}
