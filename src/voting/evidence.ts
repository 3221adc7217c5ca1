import { equalBytes } from '../primitives/bytes.js'
import { type CommitInfo, type Database, Overlay } from '../storage/database.js'
import { keys, parseEvidenceKey, rangeOf, table, values } from '../storage/schema.js'

/** Contradictions that are kept, those of all validators together. */
const maxEvidence = 1000
/** Of one validator, so that its many leave room for those of others. */
const evidencePerSigner = 16
/** Bytes of all messages in them. */
const maxEvidenceBytes = 4 * 1024 * 1024

/** What contradicts itself; numbers are the order here, from 1, and never change. */
const kinds = ['proposal', 'prevote', 'precommit', 'confirm'] as const

/** Two messages of one validator of which it may sign one at most, or two confirms of which one at most may exist. */
export interface Contradiction {
  readonly height: number
  /** 0 for confirms. */
  readonly view: number
  readonly kind: (typeof kinds)[number]
  /** 33-byte key; of confirms, the sponsor of the one this node follows. */
  readonly signer: Uint8Array
  /** The messages as they came; or each header, which tells height and parent, with its confirm after it. */
  readonly first: Uint8Array
  readonly second: Uint8Array
}

/** Proofs that validators broke the protocol, as rows. The first ones stay: later ones find no room. */
export class Evidence {
  readonly #database: Database
  readonly #tip: () => Omit<CommitInfo, 'kind'>
  readonly #kept: Contradiction[] = []
  #bytes = 0

  private constructor(database: Database, tip: () => Omit<CommitInfo, 'kind'>) {
    this.#database = database
    this.#tip = tip
  }

  /** Takes up what is stored. `tip` names the tip at any moment. */
  static async open(database: Database, tip: () => Omit<CommitInfo, 'kind'>): Promise<Evidence> {
    const evidence = new Evidence(database, tip)
    for await (const [key, value] of database.scan(rangeOf(table.evidence))) {
      const { height, view, kind, signer } = parseEvidenceKey(key)
      const named = kinds[kind - 1]
      if (named !== undefined) evidence.#keep({ height, view, kind: named, signer, ...values.evidence.decode(value) })
    }
    return evidence
  }

  /** What is kept, or of it that of a height, in the order of height and view. */
  list(height?: number): readonly Contradiction[] {
    const wanted = height === undefined ? this.#kept : this.#kept.filter((one) => one.height === height)
    return [...wanted].sort((a, b) => a.height - b.height || a.view - b.view)
  }

  /** Keeps one more, unless one of the same validator and vote is kept or there is no room; resolves when it is on disk. */
  async add(one: Contradiction): Promise<void> {
    const { height, view, kind, signer, first, second } = one
    const ofSigner = this.#kept.filter((kept) => equalBytes(kept.signer, signer))
    const known = ofSigner.some((kept) => kept.height === height && kept.view === view && kept.kind === kind)
    const bytes = this.#bytes + first.length + second.length
    const full = this.#kept.length >= maxEvidence || ofSigner.length >= evidencePerSigner || bytes > maxEvidenceBytes
    // Two confirms are the end of the chain's promise: there is always room for them, and they come once.
    if (known || (full && kind !== 'confirm')) return
    this.#keep(one)
    const overlay = new Overlay(this.#database)
    overlay.put(keys.evidence(height, view, kinds.indexOf(kind) + 1, signer), values.evidence.encode(one))
    await overlay.commit({ kind: 'voting', ...this.#tip() }, { sync: true })
  }

  #keep(one: Contradiction): void {
    this.#kept.push(one)
    this.#bytes += one.first.length + one.second.length
  }
}
