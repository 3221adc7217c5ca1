import type { SearchPlan } from '../../identity/did-index/plan.js'
import type { Matcher } from '../../identity/did-query/compile.js'
import type { Members } from '../../identity/did-query/member-path.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { arePlain, someMembers } from '../../base/primitives/some-members.js'
import { damaged } from '../../ledger/storage/failure.js'
import type { FrozenRows } from '../../ledger/storage/stored-rows.js'
import { type Key, tables } from '../../ledger/storage/rows/tables.js'

/** @tuning count: documents that a search reads at once to examine them */
const documentsAtOnce = 64

/** @tuning bytes: documents examined by a search that it keeps for its answer; others are read again */
const keptBytes = 1024 * 1024

/** @tuning bytes: documents of which a search parses a part before it looks whether that is worth it */
const sampleBytes = 64 * 1024
/** Part of the bytes of documents beyond which all is parsed. */
const partAtMost = 0.6

/** @tuning count: documents in which a search looks for the texts of its condition before it looks whether that is worth it */
const soughtAtLeast = 64
/** Share of documents with the texts above which that search is dropped: it spares too little parsing. */
const partWithTexts = 0.75

/** Parts of a search that an examination uses. */
export interface ExamineTask {
  readonly rows: FrozenRows
  readonly matcher: Matcher
  readonly plan: SearchPlan
  /** Documents that the search may examine. */
  readonly examined: number
  /** Counts documents that were examined. */
  readonly note: (documents: number) => void
}

/** Matching documents by their ordinals, and texts of some of them. */
export interface Examined {
  readonly ordinals: readonly number[]
  readonly kept: ReadonlyMap<number, Buffer>
}

/** Reads documents, and holds them against the condition of a search; counts them. */
export class Examiner {
  readonly #task: ExamineTask
  readonly #rest: () => Promise<void>
  /** Texts of the condition: a document without one of them is not parsed. None where nearly all documents have them. */
  #texts: readonly Buffer[]
  readonly #sought = { documents: 0, having: 0 }
  /** Whether a part of each document is parsed. */
  #isPartial: boolean
  readonly #bytes = { parsed: 0, all: 0 }
  #examined = 0

  /** `rest`: lets other work run between slices. */
  constructor(task: ExamineTask, rest: () => Promise<void>) {
    this.#task = task
    this.#rest = rest
    this.#texts = task.matcher.texts.map((text) => Buffer.from(text))
    this.#isPartial = arePlain(task.matcher.names)
  }

  /** Returns those of the documents that meet the condition; `keep`: the answer may have room for them. */
  async matching(ordinals: readonly number[], keep: boolean): Promise<Examined> {
    const matching: number[] = []
    const kept = new Map<number, Buffer>()
    let room = keep ? keptBytes : 0
    for (let start = 0; start < ordinals.length; start += documentsAtOnce) {
      const some = ordinals.slice(start, start + documentsAtOnce)
      this.#count(some.length)
      for (const { ordinal, key, value } of await this.documents(some)) {
        if (this.#matches(key, value)) {
          matching.push(ordinal)
          room -= value.length
          if (room >= 0) kept.set(ordinal, value)
        }
        await this.#rest()
      }
    }
    return { ordinals: matching, kept }
  }

  /** Whether a document meets the condition. */
  matches(key: Key, value: Buffer): boolean {
    this.#count(1)
    return this.#matches(key, value)
  }

  #matches(key: Key, value: Buffer): boolean {
    return this.#hasTexts(value) && this.#task.matcher.matches(this.#read(key, value))
  }

  #hasTexts(value: Buffer): boolean {
    if (this.#texts.length === 0) return true
    const hasThem = this.#texts.every((text) => value.includes(text))
    const sought = this.#sought
    if (hasThem) sought.having++
    if (++sought.documents >= soughtAtLeast && sought.having > sought.documents * partWithTexts) this.#texts = []
    return hasThem
  }

  /** The members of a document that the condition looks at, or all. */
  #read(key: Key, value: Buffer): Members {
    try {
      return this.#partOf(value) ?? (JSON.parse(value.toString('utf8')) as Members)
    } catch {
      throw damaged(`row ${key.toString('hex')} holds no document`)
    }
  }

  #partOf(value: Buffer): Members | undefined {
    const some = this.#isPartial ? someMembers(value, this.#task.matcher.names) : undefined
    if (some === undefined) return undefined
    this.#bytes.parsed += some.parsed
    this.#bytes.all += value.length
    // Stepping over the rest takes longer than it saves where there is little.
    if (this.#bytes.all > sampleBytes) this.#isPartial = this.#bytes.parsed < this.#bytes.all * partAtMost
    return some.members
  }

  /** The documents of ordinals, in their order. */
  async documents(ordinals: readonly number[]): Promise<{ ordinal: number; key: Key; value: Buffer }[]> {
    const { rows } = this.#task
    const creates = await rows.getMany(ordinals.map((ordinal) => tables.ordinal.key(ordinal)))
    const documentKeys = creates.map((row, i) => {
      if (row === undefined) throw damaged(`the row of ordinal ${ordinals[i]} is missing`)
      return tables.didDocument.key(tables.ordinal.decode(row))
    })
    const found = await rows.getMany(documentKeys)
    return ordinals.map((ordinal, i) => {
      const [key, value] = [documentKeys[i] as Key, found[i]]
      if (value === undefined) throw damaged(`row ${key.toString('hex')} of a document is missing`)
      return { ordinal, key, value }
    })
  }

  #count(documents: number): void {
    this.#examined += documents
    this.requireRoom(this.#examined)
    this.#task.note(documents)
  }

  /** Refuses to examine too many documents. */
  requireRoom(documents: number): void {
    const { examined, plan } = this.#task
    if (documents <= examined) return
    throw new RuleError(
      'busy',
      `more than ${examined} documents would have to be read: ${reasonOf(plan)}; ` +
        'add a condition that it answers, as a type in service.type or credential.type (docs/query.md#speed)',
    )
  }
}

/** Why the index is not enough for a plan. */
function reasonOf({ open }: SearchPlan): string {
  if (open.length > 0) return `the index does not answer ${open.slice(0, 3).join(', ')}`
  return 'they have more types or claims of credentials than the index takes'
}
