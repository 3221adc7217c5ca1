import { RuleError } from '../../../base/errors/rule-error.js'
import { nextTurn } from '../../../base/runtime/cooperative.js'
import type { AnswerAdmission, ReadHolder } from './admission.js'
import type { AnswerClient } from '../node-handles.js'
import type { StreamedAnswer, Sink } from './streamed-answer.js'

/** Milliseconds of a time slice of a production. */
const productionSlice = 4

/** No failure: the client left before its answer was complete. */
const gone = new RuleError('request-timeout', 'no client waits for the answer')

/** Reads the parts of a shared answer, each as UTF-8. */
export class AnswerReader {
  shared: SharedAnswer
  /** Number of the next part. */
  at = 0
  failure: unknown
  readonly client: AnswerClient
  readonly #leave = () => this.close()

  constructor(shared: SharedAnswer, client: AnswerClient) {
    this.shared = shared
    this.client = client
    client.signal.addEventListener('abort', this.#leave, { once: true })
  }

  /**
   * Resolves once the answer is complete or its first parts are there, `whole` saying which; rejects with the reason of a
   * refusal.
   */
  async ready(): Promise<{ whole: boolean }> {
    while (!this.shared.settled && this.failure === undefined) await this.shared.change()
    if (this.failure !== undefined) throw this.failure
    return { whole: this.shared.whole }
  }

  /** The next part; undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure
      const part = this.shared.read(this)
      if (part !== 'later') return part
      await this.shared.change()
    }
  }

  close(): void {
    this.client.signal.removeEventListener('abort', this.#leave)
    this.failure ??= gone
    this.shared.leave(this)
  }
}

/** Production of one answer for all clients that request it before its first part is released. */
export class SharedAnswer implements ReadHolder {
  readonly #gate: AnswerAdmission
  readonly #answer: StreamedAnswer
  readonly #readers = new Set<AnswerReader>()
  readonly #abort = new AbortController()
  /** Parts that a reader still needs, from number {@link #base} on. */
  readonly #kept: Buffer[] = []
  #base = 0
  #keptBytes = 0
  /** Parts that its readers had before they joined this answer. */
  #skipped = 0
  #done = false
  #begun = false
  #failed = false
  #delivered = 0
  /** Milliseconds that the production has waited for readers. */
  #stalled = 0
  #stalledSince: number | undefined
  /** When a reader took the last part that others waited for; performance.now(). */
  #takenAt = performance.now()
  #changed: { readonly promise: Promise<void>; resolve(): void } | undefined
  readonly share: string

  constructor(gate: AnswerAdmission, answer: StreamedAnswer, share: string) {
    this.#gate = gate
    this.#answer = answer
    this.share = share
  }

  /** Whether a further client gets the answer from its start. */
  get joinable(): boolean {
    return this.#base === 0 && !this.#failed && !this.#abort.signal.aborted
  }

  /** Whether the first parts are there. */
  get settled(): boolean {
    return this.#done || this.#begun
  }

  /** Whether the answer is complete and all of it is kept. */
  get whole(): boolean {
    return this.#done && this.#base === 0 && !this.#begun
  }

  get slow(): boolean {
    const now = performance.now()
    const milliseconds = this.#stalled + (this.#stalledSince === undefined ? 0 : now - this.#stalledSince)
    const { answerGrace, answerRate } = this.#gate.limits
    if (this.idle >= answerGrace) return true
    return milliseconds >= answerGrace && this.#delivered < (answerRate * milliseconds) / 1000
  }

  get idle(): number {
    const since = this.#stalledSince
    return since === undefined ? 0 : performance.now() - Math.max(since, this.#takenAt)
  }

  evict(): void {
    this.#fail(new RuleError('busy', 'the answer was read too slowly while others waited'))
  }

  join(client: AnswerClient): AnswerReader {
    const reader = new AnswerReader(this, client)
    this.#readers.add(reader)
    if (client.signal.aborted) reader.close()
    return reader
  }

  /** Makes the answer; resolves when all readers are done or gone. */
  async run(): Promise<void> {
    const { signal } = this.#abort
    let release = () => {}
    try {
      release = await this.#gate.enter(this, signal, this.#answer.search)
      // Departed clients are known one turn of the event loop after their requests; the first await ends the present turn.
      await nextTurn()
      await nextTurn()
      await this.#gate.begin(async () => {
        const sink = new AnswerSink(this, this.#gate, signal, this.#skipped)
        await this.#answer.write(sink)
        sink.end()
      }, signal)
      this.#done = true
      this.#notify()
      this.#stall()
      while (this.#readers.size > 0) await this.change()
    } catch (error) {
      this.#fail(error)
    } finally {
      release()
      this.#gate.leave(this)
    }
  }

  /** Takes a part; resolves when there is room for another. Rejects once no client waits. */
  async push(part: Buffer): Promise<void> {
    this.#kept.push(part)
    this.#keptBytes += part.length
    this.#begun ||= this.#full
    this.#notify()
    while (this.#full && !this.#abort.signal.aborted) {
      this.#stall()
      if (this.#hungry.length === 0) await this.change()
      else if (!(await this.#changeWithin(this.#gate.limits.answerLag))) this.#split()
    }
    this.#endStall()
    this.#abort.signal.throwIfAborted()
    await this.#gate.resume(this, this.#abort.signal)
  }

  /** Takes the last part of the answer, which may be empty. */
  end(part: Buffer): void {
    if (part.length === 0) return
    this.#kept.push(part)
    this.#keptBytes += part.length
  }

  read(reader: AnswerReader): Buffer | undefined | 'later' {
    const part = this.#kept[reader.at - this.#base]
    if (part === undefined) {
      if (!this.#done) return 'later'
      this.leave(reader)
      return undefined
    }
    reader.at++
    this.#trim()
    // From now on it waits for the readers that hold the window back.
    if (this.#full && reader.at === this.#base + this.#kept.length) this.#notify()
    return part
  }

  leave(reader: AnswerReader): void {
    if (!this.#readers.delete(reader)) return
    if (this.#readers.size === 0 && !this.#done) this.#abort.abort(gone)
    this.#trim()
    this.#notify()
  }

  /** Resolves at the next change of parts or readers. */
  change(): Promise<void> {
    if (this.#changed === undefined) {
      let resolve: () => void = () => {}
      const promise = new Promise<void>((done) => (resolve = done))
      this.#changed = { promise, resolve }
    }
    return this.#changed.promise
  }

  get #full(): boolean {
    return this.#keptBytes >= this.#gate.limits.answerWindow
  }

  /** Readers that have read all parts so far. */
  get #hungry(): AnswerReader[] {
    const end = this.#base + this.#kept.length
    return [...this.#readers].filter(({ at }) => at === end)
  }

  /** Moves slow readers to a production of their own, or cuts them off where its text could differ. */
  #split(): void {
    const hungry = new Set(this.#hungry)
    const slow = [...this.#readers].filter((reader) => !hungry.has(reader))
    if (!this.#answer.repeatable) {
      for (const reader of slow) {
        reader.failure = new RuleError('busy', 'the answer was read too slowly while others waited')
        this.leave(reader)
      }
      return
    }
    const other = new SharedAnswer(this.#gate, this.#answer, slow[0]?.client.share ?? this.share)
    other.#kept.push(...this.#kept)
    other.#base = this.#base
    other.#keptBytes = this.#keptBytes
    other.#skipped = this.#base + this.#kept.length
    other.#begun = true
    for (const reader of slow) {
      this.#readers.delete(reader)
      reader.shared = other
      other.#readers.add(reader)
    }
    void other.run()
    this.#trim()
    this.#notify()
  }

  #trim(): void {
    let least = Infinity
    for (const { at } of this.#readers) least = Math.min(least, at)
    const count = Math.min(least, this.#base + this.#kept.length) - this.#base
    if (count <= 0 || this.#readers.size === 0) return
    for (const part of this.#kept.splice(0, count)) {
      this.#keptBytes -= part.length
      this.#delivered += part.length
    }
    this.#base += count
    this.#takenAt = performance.now()
    this.#notify()
  }

  #fail(error: unknown): void {
    this.#failed = true
    for (const reader of [...this.#readers]) {
      reader.failure ??= error
      this.#readers.delete(reader)
    }
    if (!this.#abort.signal.aborted) this.#abort.abort(error)
    this.#notify()
  }

  /** Waits for readers from now on: the place of the production is for others meanwhile. */
  #stall(): void {
    if (this.#stalledSince !== undefined) return
    this.#stalledSince = performance.now()
    this.#gate.park(this)
  }

  #endStall(): void {
    if (this.#stalledSince === undefined) return
    this.#stalled += performance.now() - this.#stalledSince
    this.#stalledSince = undefined
  }

  #notify(): void {
    const changed = this.#changed
    this.#changed = undefined
    changed?.resolve()
  }

  /** Whether a change came in time. */
  async #changeWithin(milliseconds: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), milliseconds)))
    const inTime = await Promise.race([this.change().then(() => true), late])
    clearTimeout(timer)
    return inTime
  }
}

/** Cuts text into parts at offsets that depend on the text alone, so that a second production can continue a first. */
class AnswerSink implements Sink {
  readonly signal: AbortSignal
  readonly #shared: SharedAnswer
  readonly #gate: AnswerAdmission
  #skip: number
  #text: string[] = []
  #length = 0
  #began = performance.now()

  constructor(shared: SharedAnswer, gate: AnswerAdmission, signal: AbortSignal, skip: number) {
    this.#shared = shared
    this.#gate = gate
    this.signal = signal
    this.#skip = skip
  }

  add(text: string): void {
    this.#text.push(text)
    this.#length += text.length
  }

  get due(): boolean {
    return this.#length >= this.#gate.limits.answerPart || performance.now() - this.#began >= productionSlice
  }

  async drain(): Promise<void> {
    if (this.#length >= this.#gate.limits.answerPart) await this.#pass()
    this.signal.throwIfAborted()
    if (performance.now() - this.#began < productionSlice) return
    await this.#gate.turn()
    this.signal.throwIfAborted()
    this.#began = performance.now()
  }

  reserve(bytes: number): Promise<() => void> {
    return this.#gate.reserve(bytes, this.#shared, this.signal)
  }

  /** Passes the rest on. */
  end(): void {
    if (this.#skip > 0) throw new RuleError('busy', 'the answer is not the same any more')
    this.#shared.end(Buffer.from(this.#take()))
  }

  async #pass(): Promise<void> {
    const text = this.#take()
    if (this.#skip > 0) this.#skip--
    else await this.#shared.push(Buffer.from(text))
  }

  #take(): string {
    const text = this.#text.join('')
    this.#text = []
    this.#length = 0
    return text
  }
}

/** Answers in progress, each made once for all clients that request it at the same time. */
export class SharedAnswers {
  readonly gate: AnswerAdmission
  readonly #underWay = new Map<string, SharedAnswer>()

  constructor(gate: AnswerAdmission) {
    this.gate = gate
  }

  /** Joins the answer of this key that is in progress, or starts it. */
  join(answer: StreamedAnswer, client: AnswerClient): AnswerReader {
    const known = this.#underWay.get(answer.key)
    if (known?.joinable === true) return known.join(client)
    const shared = new SharedAnswer(this.gate, answer, client.share)
    const reader = shared.join(client)
    this.#underWay.set(answer.key, shared)
    void shared.run().then(() => {
      if (this.#underWay.get(answer.key) === shared) this.#underWay.delete(answer.key)
    })
    return reader
  }
}
