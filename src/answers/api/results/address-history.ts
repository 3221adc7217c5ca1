import type { Static } from '@sinclair/typebox'
import type { SnapshotBlock, ChainSnapshot } from '../../../ledger/chain/chain-snapshot.js'
import { largeTransaction } from '../../../ledger/chain/reader.js'
import type { ProgramHash } from '../../../base/primitives/address.js'
import { formatAmount } from '../../../base/primitives/amount.js'
import { mapKey, toHex } from '../../../base/primitives/bytes.js'
import { defined } from '../../../base/primitives/defined.js'
import { ownerOf } from '../../../base/primitives/output.js'
import { kindOfType } from '../../../base/primitives/payload-kinds.js'
import type { Transaction } from '../../../base/primitives/transaction.js'
import { runCooperatively } from '../../../base/runtime/cooperative.js'
import { present } from '../../../ledger/storage/rows/row-reader.js'
import { historyRange, type Location, tables } from '../../../ledger/storage/rows/tables.js'
import { spentSteps } from '../../../ledger/storage/rows/undo-record.js'
import { isGivenUp, prunedHeight, supersededHeight } from '../../../ledger/storage/rows/prune-rows.js'
import type { ApiContext } from '../api-context.js'
import { apiLimits } from '../api-limits.js'
import type { addressHistorySchema } from '../schemas/transaction-schemas.js'
import type { Sink, StreamedAnswer } from '../streams/streamed-answer.js'
import { snapshotAnswer } from './snapshot-answer.js'
import { withDecoded } from './transaction-text.js'

/** A page of a list, newest first. */
export interface PageRequest {
  /** Entries below this position of the chain; undefined: from the tip. */
  readonly before: Location | undefined
  readonly limit: number
}

type AddressHistory = Static<typeof addressHistorySchema>
type HistoryEntry = AddressHistory['transactions'][number]

/** Sums in units of 10^-8 of the coins that a transaction spent: all of them, and those of the address. */
interface Spent {
  all: bigint
  own: bigint
}

/** The transactions of the chain that touched an address. A page costs what it shows, however long the history is. */
export function addressHistory(
  { reader, limits }: ApiContext,
  address: string,
  owner: ProgramHash,
  { before, limit }: PageRequest,
): StreamedAnswer {
  const { pageBytes } = { ...apiLimits, ...limits }
  const key = ['history', toHex(owner), limit, before?.height ?? '', before?.index ?? '']
  return snapshotAnswer(reader, key, async (chain, sink) => {
    return { address, ...(await new HistoryPage(chain, owner, sink).read({ before, limit }, pageBytes)) }
  })
}

/** Reads one page, the transactions of one block after another. */
class HistoryPage {
  readonly #chain: ChainSnapshot
  readonly #address: ProgramHash
  /** As coins name it. */
  readonly #owner: string
  readonly #sink: Sink
  readonly #entries: HistoryEntry[] = []
  /** The last position that was read, and the number of those: some have no entry. */
  #last: Location | undefined
  #count = 0
  /** Bytes of the rows read. */
  #bytes = 0

  constructor(chain: ChainSnapshot, address: ProgramHash, sink: Sink) {
    this.#chain = chain
    this.#address = address
    this.#owner = mapKey(address)
    this.#sink = sink
  }

  async read({ before, limit }: PageRequest, pageBytes: number): Promise<Omit<AddressHistory, 'address'>> {
    const pruned = prunedHeight(this.#chain.rows)
    const from = pruned === 0 ? 0 : pruned + 1
    const range = historyRange(this.#address, { before, from })
    // One more than is shown: it tells whether anything follows.
    const rows = await this.#chain.rows.rows(range, { reverse: true, limit: limit + 1 })
    const positions = rows.slice(0, limit).map(([key]) => tables.history.fields(key))
    const shown = byHeight(positions.map(([, height, index]) => ({ height, index })))
    for (const block of await this.#chain.blocks([...shown.keys()])) {
      this.#sink.signal.throwIfAborted()
      if (this.#bytes >= pageBytes) break
      await this.#readBlock(block, shown.get(block.header.height) as number[])
    }
    const next = this.#count < rows.length ? this.#last : undefined
    const uses = { first: await this.#use(from, false), last: await this.#use(from, true) }
    const lacking = { pruned: pruned || undefined, superseded: supersededHeight(this.#chain.rows) || undefined }
    return { transactions: this.#entries, ...defined({ ...uses, next, ...lacking }) }
  }

  /** The oldest or the newest transaction from a height on, however many there are between them. */
  async #use(from: number, newest: boolean): Promise<AddressHistory['first']> {
    const [row] = await this.#chain.rows.rows(historyRange(this.#address, { from }), { reverse: newest, limit: 1 })
    if (row === undefined) return undefined
    const [, height, index] = tables.history.fields(row[0])
    const [block] = await this.#chain.blocks([height])
    return { height, index, time: present(block, 'a block of an address').header.time }
  }

  async #readBlock(block: SnapshotBlock, indices: readonly number[]): Promise<void> {
    const { height } = block.header
    const keysOf = () => [tables.undo.key(height), ...indices.map((index) => tables.transaction.key(height, index))]
    await this.#chain.rows.load(keysOf)
    const spent = await this.#spentBy(block, new Set(indices))
    for (const index of indices) {
      this.#last = { height, index }
      this.#count++
      const found = this.#chain.rows.get(tables.transaction.key(height, index))
      if (found === undefined && isGivenUp(this.#chain.rows, { height, index })) continue
      const bytes = present(found, 'a transaction of an address')
      this.#bytes += bytes.length
      await withDecoded(this.#sink, bytes, (tx) => this.#add(block, index, tx, spent.get(index)))
      if (this.#sink.due) await this.#sink.drain()
    }
  }

  /** Sums of what transactions of a block spent. The undo record has it: no transaction before them is read. */
  async #spentBy({ header, size }: SnapshotBlock, indices: ReadonlySet<number>): Promise<ReadonlyMap<number, Spent>> {
    const sums = new Map<number, Spent>()
    // A coinbase alone spends nothing.
    if (indices.size === 1 && indices.has(0)) return sums
    // An undo record has no more bytes than the inputs of its block.
    const release = size > largeTransaction ? await this.#sink.reserve(size) : () => {}
    try {
      const undo = present(this.#chain.rows.get(tables.undo.key(header.height)), 'an undo record')
      this.#bytes += undo.length
      const add = spentSteps(undo, indices, (index, { value, owner }) => {
        const sum = sums.get(index) ?? { all: 0n, own: 0n }
        sum.all += value
        if (owner === this.#owner) sum.own += value
        sums.set(index, sum)
      })
      await runCooperatively(add)
    } finally {
      release()
    }
    return sums
  }

  #add({ header }: SnapshotBlock, index: number, tx: Transaction, spent: Spent | undefined): void {
    let [received, paid] = [0n, 0n]
    for (const output of tx.outputs) {
      paid += output.value
      if (ownerOf(output) === this.#owner) received += output.value
    }
    this.#entries.push({
      txid: tx.txid,
      height: header.height,
      index,
      blockhash: header.id,
      time: header.time,
      kind: kindOfType(tx.type),
      received: formatAmount(received),
      spent: formatAmount(spent?.own ?? 0n),
      // Without inputs there is nothing that a fee could be paid from.
      ...defined({ fee: spent && formatAmount(spent.all - paid) }),
    })
  }
}

/** The indices of positions by their height, in the same order. */
function byHeight(positions: readonly Location[]): ReadonlyMap<number, number[]> {
  const groups = new Map<number, number[]>()
  for (const { height, index } of positions) {
    const group = groups.get(height)
    if (group === undefined) groups.set(height, [index])
    else group.push(index)
  }
  return groups
}
