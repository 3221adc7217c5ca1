import { mapKey } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import type { Header } from '../primitives/header.js'
import type { BlockVerdict } from './tendermint/machine-events.js'

/** Verdicts on blocks that are remembered; the block named longest ago goes first. */
const maxVerdicts = 64

interface CheckedBlock {
  readonly header: Header
  readonly verdict: BlockVerdict
}

/** Blocks of one height that this node connected on trial, and what came of it. */
export class CheckedBlocks {
  /** The one that messages named last comes last. */
  readonly #blocks = new Map<string, CheckedBlock>()

  verdict(hash: Hash): BlockVerdict | undefined {
    return this.#blocks.get(mapKey(hash))?.verdict
  }

  add(header: Header, verdict: BlockVerdict): void {
    this.#blocks.set(mapKey(header.hash), { header, verdict })
    if (this.#blocks.size > maxVerdicts) this.#blocks.delete(this.#blocks.keys().next().value as string)
  }

  /** Makes a block the newest: a message of the present view names it. */
  name(hash: Hash): void {
    const block = this.#blocks.get(mapKey(hash))
    if (block === undefined) return
    this.#blocks.delete(mapKey(hash))
    this.#blocks.set(mapKey(hash), block)
  }

  /** The newest valid block that may be proposed. */
  newest(proposable: (header: Header) => boolean): Header | undefined {
    const blocks = [...this.#blocks.values()].reverse()
    return blocks.find(({ header, verdict }) => verdict === 'valid' && proposable(header))?.header
  }
}
