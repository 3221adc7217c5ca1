import { mapKey } from '../base/primitives/bytes.js'
import type { Hash } from '../base/primitives/hash.js'
import type { Header } from '../base/primitives/header.js'
import type { BlockVerdict } from './tendermint/machine-events.js'

/** @limit count: verdicts on blocks of the open height; the block that messages named longest ago leaves first */
const maxVerdicts = 64

interface CheckedBlock {
  readonly header: Header
  readonly verdict: BlockVerdict
}

/** Trial-connected blocks of one height, with their verdicts. */
export class CheckedBlocks {
  /** In order of the last message that named them. */
  readonly #blocks = new Map<string, CheckedBlock>()

  verdict(hash: Hash): BlockVerdict | undefined {
    return this.#blocks.get(mapKey(hash))?.verdict
  }

  add(header: Header, verdict: BlockVerdict): void {
    this.#blocks.set(mapKey(header.hash), { header, verdict })
    if (this.#blocks.size > maxVerdicts) this.#blocks.delete(this.#blocks.keys().next().value as string)
  }

  /** Makes a block the newest, for a message of the present view that names it. */
  name(hash: Hash): void {
    const block = this.#blocks.get(mapKey(hash))
    if (block === undefined) return
    this.#blocks.delete(mapKey(hash))
    this.#blocks.set(mapKey(hash), block)
  }

  /** The newest valid block that passes `proposable`. */
  newest(proposable: (header: Header) => boolean): Header | undefined {
    const blocks = [...this.#blocks.values()].reverse()
    return blocks.find(({ header, verdict }) => verdict === 'valid' && proposable(header))?.header
  }
}
