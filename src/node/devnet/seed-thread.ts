import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { nextTurn } from '../../base/runtime/cooperative.js'
import { SeedMaker, type SeedAnswers, type SeedRequest } from './seed-maker.js'

type Answer = SeedAnswers[SeedRequest['kind']]

interface Waiting {
  readonly request: SeedRequest
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * Makes seeded DIDs in a thread of its own, while this one connects those before. Without the compiled worker (sources run uncompiled), and once
 * the thread has died, the same happens in this thread.
 */
export class SeedThread {
  readonly #here = new SeedMaker()
  #worker: Worker | undefined
  /** Answers arrive in the order of the requests. */
  readonly #waiting: Waiting[] = []

  constructor(file = new URL('./seed-worker.js', import.meta.url)) {
    if (!existsSync(file)) return
    // Without execArgv a loader of this process would run in the thread.
    const worker = new Worker(file, { execArgv: [], name: 'seeded DIDs' })
    this.#worker = worker
    worker.on('message', (answer: Answer) => void this.#waiting.shift()?.resolve(answer))
    // What it died of is met again in this thread.
    worker.on('error', () => {})
    worker.on('exit', () => this.#died())
  }

  /** The answer to a request; few numbers at once, as this thread may have to make them. */
  ask<Kind extends SeedRequest['kind']>(request: Extract<SeedRequest, { kind: Kind }>): Promise<SeedAnswers[Kind]> {
    return new Promise((resolve, reject) => {
      const waiting = { request, resolve: resolve as Waiting['resolve'], reject }
      if (this.#worker === undefined) return void this.#answer(waiting)
      this.#waiting.push(waiting)
      this.#worker.postMessage(request)
    })
  }

  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('the thread of seeded DIDs is closed'))
    await worker?.terminate()
  }

  async #answer({ request, resolve, reject }: Waiting): Promise<void> {
    try {
      await nextTurn()
      resolve(this.#here.answer(request))
    } catch (error) {
      reject(error)
    }
  }

  #died(): void {
    this.#worker = undefined
    for (const waiting of this.#waiting.splice(0)) void this.#answer(waiting)
  }
}
