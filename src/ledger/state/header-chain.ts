import { RuleError } from '../../base/errors/rule-error.js'
import { workOf } from '../../base/primitives/compact.js'
import { Reader } from '../../base/primitives/codec.js'
import { Header, headerSize } from '../../base/primitives/header.js'
import { GrowingBytes } from './growing-bytes.js'

/** Headers that follow each other from genesis on, 84 bytes of memory each. */
export class HeaderChain {
  readonly #genesis: Header
  readonly #bytes = new GrowingBytes()
  tip: Header
  /** Work of all but genesis. */
  work = 0n

  constructor(genesis: Header) {
    this.#genesis = genesis
    this.tip = genesis
  }

  /** Adds one that was checked to follow the tip. */
  add(header: Header): void {
    this.#bytes.add(header.bytes)
    this.work += workOf(header.bits)
    this.tip = header
  }

  /** The header at a height up to the tip. */
  at(height: number): Header {
    if (height === 0) return this.#genesis
    if (height < 0 || height > this.tip.height) throw new RuleError('block-height', `there is no block ${height}`)
    return Header.read(new Reader(this.#bytes.part((height - 1) * headerSize, height * headerSize)))
  }
}
