/**
 * Proves answers: leads from what the rows say of a DID to the block that commits to it, and from there to its validators or its work.
 *
 *   resolver -> Prover.block                   the block as of which is proved: the tip, or one below
 *            -> didMap, credentialMap          map-proofs.ts: rows of a DID, way of its key (storage/map)
 *            -> proof, change, changes         Anchors (anchors.ts): coinbase, branch, confirm
 *            -> headers                        of a chain without validators
 *
 * Imports did, errors, primitives, proofs, runtime, storage; used by resolver, node.
 * - Reads rows as they are: the caller sees to it that those of one answer are of one state.
 * - Anchors are kept by block hash and made one at a time, each in slices.
 */
import { encodeBase64url } from '../../identity/did/base64url.js'
import type { AnchorJson, ChangeJson, ChangesJson, MapProofJson, StateProof } from '../../identity/did/state-proof.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { joinFullHeader } from '../../base/primitives/block.js'
import { displayHash, toHex } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { paramsAt, type Spec, validatorChanges } from '../../base/primitives/spec.js'
import { proofFormat } from '../../identity/proofs/proof-answer.js'
import { changesFormat, maxChanges } from '../../identity/proofs/changes.js'
import { trustOf, type TrustJson } from '../../identity/proofs/make-trust.js'
import { maxHeaders } from '../../identity/proofs/work.js'
import type { RowSource } from '../../ledger/storage/stored-rows.js'
import { damaged } from '../../ledger/storage/failure.js'
import { present } from '../../ledger/storage/rows/row-reader.js'
import { tables, type TipRow } from '../../ledger/storage/rows/tables.js'
import { hasMap, mapRootAfter, provedFrom, provedHeights } from '../../ledger/storage/rows/map/map-rows.js'
import { PageMemory } from '../../ledger/storage/rows/map/page-memory.js'
import { joinedHeight, prunedHeight, requireUnpruned } from '../../ledger/storage/rows/prune-rows.js'
import { Anchors, type AnchorsOptions } from './anchors.js'
import { operationsUpTo } from '../../ledger/storage/rows/did-reader.js'
import { credentialMapProof, didMapProof } from './map-proofs.js'

/** Blocks above that of an answer, by default. */
const usualDepth = { confirmed: 0, mined: 6 } as const
/** @tuning bytes: headers with their work in one answer, and texts of changes of validators */
const answerBytes = 512 * 1024

/** Header records per read. */
const headersPage = 250

export interface ProverOptions extends AnchorsOptions {
  /** Hash of the genesis block. */
  readonly genesis: Hash
  /** Lines of witnesses over a block, by its hash; absent: this node collects none. */
  cosignaturesOf?(hash: Hash): readonly string[]
}

/** Which block an answer is as of; at most one of the two. */
export interface WantedBlock {
  /** Blocks below the tip. */
  readonly depth?: number | undefined
  readonly height?: number | undefined
}

export class Prover {
  readonly #database: RowSource
  readonly #spec: Spec
  readonly #genesis: Hash
  readonly #anchors: Anchors
  readonly #pages = new PageMemory()
  readonly #cosignaturesOf: (hash: Hash) => readonly string[]

  constructor(options: ProverOptions) {
    this.#database = options.database
    this.#spec = options.spec
    this.#genesis = options.genesis
    this.#anchors = new Anchors(options)
    this.#cosignaturesOf = options.cosignaturesOf ?? (() => [])
  }

  /** The block as of which is proved under a tip. `proof-unavailable` where this node proves nothing of that block. */
  async block(tip: TipRow, wanted: WantedBlock): Promise<TipRow> {
    const lowest = Math.max(this.#lowestAnchor(tip), provedFrom(this.#database))
    return this.#anchored(tip, wanted, lowest)
  }

  /** The proof of an answer that is as of a block. */
  async proof(block: TipRow, maps: readonly MapProofJson[]): Promise<StateProof> {
    return { format: proofFormat, chain: displayHash(this.#genesis), anchor: await this.#cosigned(block), maps }
  }

  /** Number of operations of a DID up to a block; none of a text that no key can have. */
  operationCount({ height }: TipRow, key: ProgramHash | undefined): number {
    return key === undefined ? 0 : operationsUpTo(this.#database, key, height)
  }

  /** Proves the entry of a DID in the map after a block, with its operations from number `from` on. */
  async didMap(
    { height }: TipRow,
    asked: { readonly did: string; readonly key: ProgramHash | undefined; readonly from: number },
  ): Promise<MapProofJson> {
    this.#requireStates(height)
    return didMapProof(this.#source, { ...asked, height })
  }

  /** Proves the entries of a credential and a signer in the map after a block. */
  async credentialMap(
    { height }: TipRow,
    asked: { readonly id: string; readonly signer: string },
  ): Promise<MapProofJson> {
    this.#requireStates(height)
    return credentialMapProof(this.#source, { ...asked, height })
  }

  /** The validators after a block and its anchor, whether or not they are others than before. */
  async change(tip: TipRow, wanted: WantedBlock): Promise<ChangeJson> {
    return this.#changeAfter(await this.#anchored(tip, wanted, this.#lowestAnchor(tip)))
  }

  /** Returns the parts of the spec that a checker needs. `proof-unavailable` if no block of the chain commits to the state of all DIDs. */
  trust(): TrustJson {
    const trust = trustOf(this.#spec)
    if (trust !== undefined) return trust
    throw new RuleError('proof-unavailable', 'no block of this chain commits to the state of all DIDs')
  }

  /** The changes of validators with heights above `from`, up to the block after the tip. */
  async changes(tip: TipRow, from: number): Promise<ChangesJson> {
    const first = this.#firstCommitment
    if (first > tip.height) throw this.#uncommitted(tip)
    const heights = this.#changeHeights(Math.max(from, first), tip.height + 1)
    const some = heights.slice(0, maxChanges)
    const changes: ChangeJson[] = []
    let bytes = 0
    for (const height of some) {
      const block = this.#active(height - 1)
      if ((await this.#anchors.at(block, 'old')) === undefined) {
        if (changes.length > 0) return this.#changesJson(tip, changes, false)
        throw new RuleError(
          'proof-unavailable',
          `this node has no confirm of block ${block.height}, which names other validators, that holds`,
        )
      }
      const change = await this.#changeAfter(block)
      bytes += JSON.stringify(change).length
      if (bytes > answerBytes && changes.length > 0) break
      changes.push(change)
    }
    return this.#changesJson(tip, changes, heights.length > changes.length)
  }

  #changesJson(tip: TipRow, changes: readonly ChangeJson[], more: boolean): ChangesJson {
    return { format: changesFormat, chain: displayHash(this.#genesis), tip: tip.height, changes, more }
  }

  /** Headers with their work from a height on, in base64url: as many as asked for, as there are and as fit into an answer. */
  async headers(from: number, count: number): Promise<string[]> {
    const end = Math.min(from + Math.min(count, maxHeaders), 0xffffffff)
    // A state has no AuxPow of its blocks where validators confirm them.
    const lowest = Math.max(1, from)
    const lacks = this.#spec.hasValidators && lowest < end && lowest <= joinedHeight(this.#database)
    if (lacks) requireUnpruned(this.#database, lowest)
    const hashes = await this.#database.rows({ gte: tables.active.key(from), lt: tables.active.key(end) })
    const headers: string[] = []
    let bytes = 0
    for (let start = 0; start < hashes.length && bytes < answerBytes; start += headersPage) {
      const some = hashes.slice(start, start + headersPage)
      for (const row of await this.#database.getMany(some.map(([, hash]) => tables.header.key(hash)))) {
        const { header, auxPow } = tables.header.decode(present(row, 'a header'))
        bytes += header.length + auxPow.length + 1
        if (bytes > answerBytes && headers.length > 0) break
        headers.push(encodeBase64url(joinFullHeader(header, auxPow)))
      }
    }
    return headers
  }

  /** Blocks that came since one was chosen may have dropped the states of its height. */
  #requireStates(height: number): void {
    const from = provedFrom(this.#database)
    if (height >= from) return
    throw new RuleError(
      'proof-unavailable',
      `this node proves blocks from ${from} on by now, not the one of height ${height}`,
    )
  }

  get #source() {
    return { database: this.#database, pages: this.#pages }
  }

  /** The first block that commits to a state; infinite: none does. */
  get #firstCommitment(): number {
    const section = this.#spec.sections.find(({ params }) => params.didRoot)
    return section === undefined ? Infinity : Math.max(1, section.height)
  }

  #uncommitted({ height }: TipRow): RuleError {
    const first = this.#firstCommitment
    const from = Number.isFinite(first) ? `blocks from ${first} on do, the tip is at ${height}` : 'none ever will'
    return new RuleError('proof-unavailable', `no block of this chain commits to the state of all DIDs yet: ${from}`)
  }

  /** The lowest block from which all have anchors. */
  #lowestAnchor(tip: TipRow): number {
    const first = this.#firstCommitment
    if (first > tip.height || !hasMap(this.#database)) throw this.#uncommitted(tip)
    return Math.max(first, prunedHeight(this.#database) + 1)
  }

  /** The block wanted, which has an anchor by the rules of the chain; not so where a confirm was assumed and does not hold. */
  async #anchored(tip: TipRow, { depth, height }: WantedBlock, lowest: number): Promise<TipRow> {
    const usual = this.#spec.hasValidators ? usualDepth.confirmed : usualDepth.mined
    const at = height ?? tip.height - (depth ?? usual)
    if (at < lowest || at > tip.height) {
      const what = height === undefined ? `${depth ?? usual} blocks below the tip` : `of height ${height}`
      const range = lowest > tip.height ? 'no block' : `blocks ${lowest} to ${tip.height}`
      throw new RuleError('proof-unavailable', `this node proves ${range}, not the one ${what}`)
    }
    const block = this.#active(at)
    const age = tip.height - at > provedHeights ? 'old' : 'recent'
    if ((await this.#anchors.at(block, age)) !== undefined) return block
    throw new RuleError(
      'proof-unavailable',
      `this node has no confirm of block ${at} that holds, or gave up its transactions just now; ask for another block`,
    )
  }

  /** The anchor of a block, which has one, with the cosignatures that there are by now. */
  async #cosigned(block: TipRow): Promise<AnchorJson> {
    const anchor = present(await this.#anchors.at(block, 'recent'), 'an anchor')
    const cosignatures = this.#cosignaturesOf(block.hash)
    return cosignatures.length === 0 ? anchor : { ...anchor, cosignatures }
  }

  async #changeAfter(block: TipRow): Promise<ChangeJson> {
    const anchor = await this.#cosigned(block)
    const root = present(mapRootAfter(this.#database, block.height), `the map root of height ${block.height}`)
    const height = block.height + 1
    const { validators } = paramsAt(this.#spec, height)
    return {
      height,
      ...(this.#spec.hasValidators && { validators: validators.map(toHex) }),
      anchor: { ...anchor, root: toHex(root) },
    }
  }

  /** Heights above `from`, up to `to`, whose validators are others than those of the block before. */
  #changeHeights(from: number, to: number): readonly number[] {
    return validatorChanges(this.#spec).filter((height) => height > from && height <= to)
  }

  #active(height: number): TipRow {
    const hash = this.#database.get(tables.active.key(height))
    if (hash === undefined) throw damaged(`the block of height ${height} is missing`)
    return { height, hash }
  }
}
