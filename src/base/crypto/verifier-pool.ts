import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { SignatureCheck } from '../primitives/signature.js'
import type { Log } from '../runtime/env.js'
import { packBatch } from './batch.js'
import { createInlineVerifier } from './inline.js'
import { Schedule } from './schedule.js'
import type { Verifier } from './verifier.js'
import { selectedBackend } from './verify.js'
import type { WorkerSettings } from './worker.js'

/** Fewer checks than this are not worth a transfer to another thread. */
const smallest = 64
/** @tuning count: batches in a thread at once: one in progress and the next one */
const batchesInFlight = 2
/**
 * It holds a batch and its keys; the default is many times as much.
 * @tuning bytes: young objects of a thread, in its heap
 */
const youngBytes = 4 * 1024 * 1024
/** Consecutive deaths, without a finished batch in between, after which threads are abandoned. */
const deathsInRow = 3
/** @tuning count: threads of the pool */
export const maxWorkers = 16

export interface PoolOptions {
  /** Threads, 1 to 16; as many as the machine runs concurrently when absent. */
  readonly workers?: number
  /** The compiled worker; the file beside this one when absent. */
  readonly workerFile?: URL
  readonly log?: Pick<Log, 'warn'>
}

interface Batch {
  readonly job: Job
  readonly indices: readonly number[]
}

interface Job {
  readonly checks: readonly SignatureCheck[]
  readonly schedule: Schedule
  readonly resolve: (firstFailing: number) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly lane: number
  readonly worker: Worker
  /** Results arrive in the order of the batches. */
  readonly batches: Batch[]
}

/**
 * A verifier with threads of its own, for the signatures of whole blocks. Threads start with the first large call. A dead thread
 * is replaced and its batches are repeated. After repeated deaths, or without the compiled worker (sources run uncompiled), the
 * same checks run without threads.
 */
export function createVerifierPool(options: PoolOptions = {}): Verifier {
  const file = options.workerFile ?? new URL('./worker.js', import.meta.url)
  return existsSync(file) ? new VerifierPool(file, options) : createInlineVerifier()
}

class VerifierPool implements Verifier {
  readonly #inline = createInlineVerifier()
  readonly #file: URL
  readonly #size: number
  readonly #log: PoolOptions['log']
  readonly #jobs = new Set<Job>()
  #threads: Thread[] = []
  #deaths = 0
  #state: 'open' | 'threadless' | 'closed' = 'open'

  constructor(file: URL, { workers = availableParallelism(), log }: PoolOptions) {
    this.#file = file
    this.#size = Math.min(maxWorkers, Math.max(1, workers))
    this.#log = log
  }

  verifyAll(checks: readonly SignatureCheck[]): Promise<number> {
    if (checks.length < smallest || this.#state !== 'open') return this.#inline.verifyAll(checks)
    return new Promise((resolve, reject) => {
      this.#jobs.add({ checks, schedule: new Schedule(checks, this.#size), resolve, reject })
      if (this.#threads.length === 0) this.#threads = Array.from({ length: this.#size }, (_, lane) => this.#start(lane))
      for (const thread of this.#threads) this.#feed(thread)
    })
  }

  async close(): Promise<void> {
    this.#state = 'closed'
    const threads = this.#threads
    this.#threads = []
    for (const job of this.#jobs) job.reject(new Error('the verifier is closed'))
    this.#jobs.clear()
    await Promise.all([this.#inline.close(), ...threads.map(({ worker }) => worker.terminate())])
  }

  #start(lane: number): Thread {
    const settings: WorkerSettings = { backend: selectedBackend() }
    // Without execArgv a loader of this process would run in every thread.
    const name = `signatures ${lane}`
    const resourceLimits = { maxYoungGenerationSizeMb: youngBytes / (1024 * 1024) }
    const worker = new Worker(this.#file, { workerData: settings, execArgv: [], name, resourceLimits })
    const thread: Thread = { lane, worker, batches: [] }
    let cause: unknown
    worker.on('message', (failing: number) => this.#answered(thread, failing))
    worker.on('error', (error) => (cause = error))
    worker.on('exit', (code) => this.#died(thread, cause ?? `exit code ${code}`))
    return thread
  }

  #feed(thread: Thread): void {
    for (const job of this.#jobs) {
      while (thread.batches.length < batchesInFlight) {
        const indices = job.schedule.take(thread.lane, thread.batches.length === 0)
        if (indices.length === 0) break
        thread.batches.push({ job, indices })
        const buffer = packBatch(indices.map((index) => job.checks[index] as SignatureCheck))
        thread.worker.postMessage(buffer, [buffer])
      }
    }
  }

  #answered(thread: Thread, failing: number): void {
    const batch = thread.batches.shift()
    if (batch === undefined) return
    this.#deaths = 0
    const { job, indices } = batch
    job.schedule.settle(indices, failing)
    this.#finish(job)
    this.#feed(thread)
  }

  #finish(job: Job): void {
    const { done, firstFailing } = job.schedule
    if (done && this.#jobs.delete(job)) job.resolve(firstFailing === job.checks.length ? -1 : firstFailing)
  }

  #died(thread: Thread, cause: unknown): void {
    if (this.#state === 'closed' || !this.#threads.includes(thread)) return
    for (const { job, indices } of thread.batches) {
      job.schedule.giveBack(thread.lane, indices)
      this.#finish(job)
    }
    this.#deaths++
    if (this.#deaths >= deathsInRow) {
      this.#giveUpThreads(cause)
      return
    }
    this.#log?.warn({ cause: String(cause) }, 'a signature worker died and is replaced')
    const replacement = this.#start(thread.lane)
    this.#threads[this.#threads.indexOf(thread)] = replacement
    this.#feed(replacement)
  }

  #giveUpThreads(cause: unknown): void {
    this.#log?.warn({ cause: String(cause) }, 'signature workers keep dying; signatures are verified without them')
    this.#state = 'threadless'
    const threads = this.#threads
    this.#threads = []
    for (const { worker } of threads) void worker.terminate()
    for (const job of this.#jobs) this.#inline.verifyAll(job.checks).then(job.resolve, job.reject)
    this.#jobs.clear()
  }
}
