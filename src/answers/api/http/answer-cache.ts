import type { KnownHeader } from '../../../ledger/chain/header-index.js'
import type { ChainReader } from '../../../ledger/chain/reader.js'
import { asBuffer, ownCopy, ownText } from '../../../base/primitives/bytes.js'
import { ByteCache } from '../../../base/runtime/byte-cache.js'

/** Rendered answers that depend on the chain alone. They contain confirmations and next hashes, so a new tip clears the cache. */
export class AnswerCache {
  readonly #reader: ChainReader
  readonly #answers: ByteCache<Buffer>
  #tip: KnownHeader

  constructor(reader: ChainReader, bytes: number) {
    this.#reader = reader
    this.#answers = new ByteCache(bytes)
    this.#tip = reader.chain.tip
  }

  get(path: string): Buffer | undefined {
    this.#followTip()
    return this.#answers.get(path)
  }

  /** Keeps an answer begun at `tip`, unless the tip has changed. */
  set(path: string, answer: Buffer, tip: KnownHeader): void {
    this.#followTip()
    if (tip !== this.#tip) return
    this.#answers.set(ownText(path), asBuffer(ownCopy(answer)), answer.length)
  }

  #followTip(): void {
    const { tip } = this.#reader.chain
    if (tip === this.#tip) return
    this.#answers.clear()
    this.#tip = tip
  }
}
