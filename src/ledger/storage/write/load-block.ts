import type { ProgramHash } from '../../../base/primitives/address.js'
import type { Block } from '../../../base/primitives/block.js'
import { mapKey } from '../../../base/primitives/bytes.js'
import { isOperationName } from '../../../base/primitives/did-operation.js'
import { outpointKey } from '../../../base/primitives/input.js'
import { txType } from '../../../base/primitives/payload.js'
import { eachSteps, type Steps } from '../../../base/primitives/steps.js'
import type { Transaction } from '../../../base/primitives/transaction.js'
import { operationPayloadOf } from '../../../base/primitives/transaction-parts.js'
import type { Outpoint } from '../../../base/primitives/transaction-fields.js'
import { runCooperatively } from '../../../base/runtime/cooperative.js'
import { callsAtOnce, rowsAtOnce } from './coin-rows.js'
import { didKey } from '../rows/did-reader.js'
import { present } from '../rows/row-reader.js'
import { tables } from '../rows/tables.js'
import type { Overlay } from './overlay.js'

/** Loads the rows that connecting a block reads, on the way: its first transactions are connected while rows of the last are read. */

/** DIDs whose rows are loaded in one call. */
const didsAtOnce = 64
/** Inputs looked at in one step. */
const inputsAtOnce = 8

/** Rows of one call, and the first transaction of the block that needs some of them. */
interface Part<T> {
  readonly first: number
  readonly wanted: T[]
}

/** Rows being read, in the order of the transactions that need them. */
export class LoadingRows<T> {
  readonly #parts: readonly Part<T>[]
  readonly #load: (wanted: readonly T[]) => Promise<void>
  readonly #calls: { readonly first: number; readonly loaded: Promise<void> }[] = []
  #next = 0

  constructor(parts: readonly Part<T>[], load: (wanted: readonly T[]) => Promise<void>) {
    this.#parts = parts
    this.#load = load
  }

  /** Resolves when more of what a transaction and those before it need is there; undefined if all is. */
  before(transaction: number): Promise<void> | undefined {
    while (this.#calls.length < callsAtOnce && this.#next < this.#parts.length) {
      const { first, wanted } = this.#parts[this.#next++] as Part<T>
      const loaded = this.#load(wanted)
      // A block that breaks a rule waits for no more of them.
      loaded.catch(() => {})
      this.#calls.push({ first, loaded })
    }
    const [call] = this.#calls
    if (call === undefined || call.first > transaction) return undefined
    return call.loaded.then(() => void this.#calls.shift())
  }
}

/** The coins that a block spends and of which nothing is known without their rows. */
export async function loadCoins(overlay: Overlay, block: Block): Promise<LoadingRows<string>> {
  const parts = await runCooperatively(unknownCoinSteps(overlay, block))
  return new LoadingRows(parts, (outpoints) => overlay.loadCoins(outpoints))
}

/**
 * The DIDs that the operations of a block belong to, as far as that is seen without parsing a document; others are read one by one
 * when they are needed.
 */
export async function loadDids(overlay: Overlay, block: Block): Promise<LoadingRows<ProgramHash>> {
  return new LoadingRows(await runCooperatively(seenDidSteps(block)), async (dids) => {
    await overlay.load(dids.map((did) => tables.didHead.key(did)))
    const known = dids.filter((did) => tables.didHead.get(overlay, did) !== undefined)
    const operations = known.flatMap((did) => {
      const { operationCount, documentSequence } = present(tables.didHead.get(overlay, did), 'a DID head')
      return [...new Set([0, documentSequence, operationCount - 1])].map((one) => tables.didOperation.key(did, one))
    })
    // Not the documents: how many bytes of them a block may read is known when it is connected.
    await overlay.load(operations)
  })
}

/** Adds to the last part, or to a new one where that is full. */
function want<T>(parts: Part<T>[], first: number, one: T, atOnce: number): void {
  const last = parts.at(-1)
  if (last === undefined || last.wanted.length === atOnce) parts.push({ first, wanted: [one] })
  else last.wanted.push(one)
}

function* unknownCoinSteps(overlay: Overlay, { transactions }: Block): Steps<Part<string>[]> {
  const parts: Part<string>[] = []
  let index = 1
  const look = (input: Outpoint) => {
    const outpoint = outpointKey(input)
    if (overlay.knownCoin(outpoint) === undefined) want(parts, index, outpoint, rowsAtOnce)
  }
  for (; index < transactions.length; index++) {
    yield* eachSteps((transactions[index] as Transaction).inputs, look, inputsAtOnce)
    if (index % inputsAtOnce === 0) yield
  }
  return parts
}

/** Characters of a payload in which the id of its document mostly stands: a multiple of four. */
const payloadBeginning = 400
const idMember = /"id":"(did:[^"#]{1,100})"/

/** The DIDs that the key ids of operations, or the beginnings of their documents, name; each once. */
function* seenDidSteps({ transactions }: Block): Steps<Part<ProgramHash>[]> {
  const seen = new Set<string>()
  const parts: Part<ProgramHash>[] = []
  for (const [index, { payload, bytes }] of transactions.entries()) {
    // Any other name is refused, and may be long.
    if (payload.type !== txType.did || !isOperationName(payload.operation.operation)) continue
    const { verificationMethod } = payload.operation
    const beginning = () => mapKey(operationPayloadOf(bytes).subarray(0, payloadBeginning))
    const named = verificationMethod.startsWith('#')
      ? idMember.exec(Buffer.from(beginning(), 'base64url').toString('latin1'))?.[1]
      : verificationMethod.split('#', 1)[0]
    const key = named === undefined || seen.has(named) ? undefined : didKey(named)
    if (named !== undefined && key !== undefined) {
      seen.add(named)
      want(parts, index, key, didsAtOnce)
    }
    yield
  }
  return parts
}
