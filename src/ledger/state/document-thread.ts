import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { type JoinedDocument, joinedDocument, packed, unpacked } from './joined-document.js'

/**
 * It holds a few batches; the default is many times as much.
 * @tuning bytes: young objects of the thread, in its heap
 */
const youngBytes = 8 * 1024 * 1024

interface Batch {
  readonly transactions: readonly Uint8Array[]
  readonly resolve: (documents: readonly JoinedDocument[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Makes documents in a thread of its own: they take as long as all else that a state needs. Without the compiled worker (sources run
 * uncompiled), and once the thread has died, the same happens in this thread.
 */
export class DocumentThread {
  #worker: Worker | undefined
  /** Answers arrive in their order. */
  readonly #batches: Batch[] = []

  constructor(file = new URL('./document-worker.js', import.meta.url)) {
    if (!existsSync(file)) return
    const resourceLimits = { maxYoungGenerationSizeMb: youngBytes / (1024 * 1024) }
    // Without execArgv a loader of this process would run in the thread.
    const worker = new Worker(file, { execArgv: [], name: 'documents', resourceLimits })
    this.#worker = worker
    worker.on('message', (documents: Uint8Array) => this.#answered(documents))
    // What it died of is met again where it matters.
    worker.on('error', () => {})
    worker.on('exit', () => this.#died())
  }

  /** The documents of transactions, in their order; rejects with an InvariantError where one has none that a chain accepts. */
  documentsOf(transactions: readonly Uint8Array[]): Promise<readonly JoinedDocument[]> {
    return new Promise((resolve, reject) => {
      const batch = { transactions, resolve, reject }
      if (this.#worker === undefined) {
        makeHere(batch)
        return
      }
      this.#batches.push(batch)
      const bytes = packed(transactions)
      this.#worker.postMessage(bytes, [bytes.buffer])
    })
  }

  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    for (const { reject } of this.#batches.splice(0)) reject(new Error('the thread of documents is closed'))
    await worker?.terminate()
  }

  #answered(bytes: Uint8Array): void {
    const batch = this.#batches.shift()
    if (batch === undefined) return
    const parts = unpacked(bytes)
    const documents = Array.from({ length: parts.length / 2 }, (_, i) => {
      return { text: parts[2 * i] as Uint8Array, tokens: parts[2 * i + 1] as Uint8Array }
    })
    makeHere(batch, documents)
  }

  #died(): void {
    this.#worker = undefined
    for (const batch of this.#batches.splice(0)) makeHere(batch)
  }
}

/** Makes the documents of a batch that are not there yet. */
function makeHere({ transactions, resolve, reject }: Batch, made: readonly JoinedDocument[] = []): void {
  try {
    resolve([...made, ...transactions.slice(made.length).map(joinedDocument)])
  } catch (error) {
    reject(error)
  }
}
