import { equalBytes } from '../base/primitives/bytes.js'
import type { Database } from '../ledger/storage/database.js'
import type { CommitInfo } from '../ledger/storage/write/row-changes.js'
import { Overlay } from '../ledger/storage/write/overlay.js'
import { tables } from '../ledger/storage/rows/tables.js'

/** @limit count: pieces of evidence kept */
const maxEvidence = 1000
/**
 * One validator cannot fill the room of the others.
 * @limit count: pieces of evidence kept against one validator
 */
const evidencePerSigner = 16
/** @limit bytes: messages in all evidence kept */
const maxEvidenceBytes = 4 * 1024 * 1024

/** Kinds of contradicting messages; on disk numbered in this order from 1, which never changes. */
const kinds = ['proposal', 'prevote', 'precommit', 'confirm'] as const

/** Two messages of one validator that may sign only one of them, or two confirms where only one may exist. */
export interface Contradiction {
  readonly height: number
  /** 0 for confirms. */
  readonly view: number
  readonly kind: (typeof kinds)[number]
  /** 33-byte key; for confirms the proposer of the block that this node follows. */
  readonly signer: Uint8Array
  /** The messages as received; for confirms the header, which proves height and parent, then the confirm. */
  readonly first: Uint8Array
  readonly second: Uint8Array
}

/** Proofs that validators broke the protocol, as rows. When full, later ones are dropped. */
export class Evidence {
  readonly #database: Database
  readonly #tip: () => Omit<CommitInfo, 'kind'>
  readonly #kept: Contradiction[] = []
  #bytes = 0

  private constructor(database: Database, tip: () => Omit<CommitInfo, 'kind'>) {
    this.#database = database
    this.#tip = tip
  }

  /** Reads the stored rows. `tip` returns the tip at the time of the call. */
  static async open(database: Database, tip: () => Omit<CommitInfo, 'kind'>): Promise<Evidence> {
    const evidence = new Evidence(database, tip)
    for await (const [key, value] of database.scan(tables.evidence.range())) {
      const [height, view, kind, signer] = tables.evidence.fields(key)
      const named = kinds[kind - 1]
      if (named !== undefined) evidence.#keep({ height, view, kind: named, signer, ...tables.evidence.decode(value) })
    }
    return evidence
  }

  /** The kept contradictions, or those of one height, in order of height and view. */
  list(height?: number): readonly Contradiction[] {
    const wanted = height === undefined ? this.#kept : this.#kept.filter((one) => one.height === height)
    return [...wanted].sort((a, b) => a.height - b.height || a.view - b.view)
  }

  /** Keeps a contradiction unless one of the same signer, height, view and kind is kept, or it is full. Resolves once on disk. */
  async add(one: Contradiction): Promise<void> {
    const { height, view, kind, signer, first, second } = one
    const ofSigner = this.#kept.filter((kept) => equalBytes(kept.signer, signer))
    const known = ofSigner.some((kept) => kept.height === height && kept.view === view && kept.kind === kind)
    const bytes = this.#bytes + first.length + second.length
    const full = this.#kept.length >= maxEvidence || ofSigner.length >= evidencePerSigner || bytes > maxEvidenceBytes
    // Two confirms prove that finality is broken: always kept, and they occur once.
    if (known || (full && kind !== 'confirm')) return
    this.#keep(one)
    const overlay = new Overlay(this.#database)
    overlay.put(tables.evidence.key(height, view, kinds.indexOf(kind) + 1, signer), tables.evidence.encode(one))
    await overlay.commit({ kind: 'voting', ...this.#tip() }, { sync: true })
  }

  #keep(one: Contradiction): void {
    this.#kept.push(one)
    this.#bytes += one.first.length + one.second.length
  }
}
