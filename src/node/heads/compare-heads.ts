/**
 * Heads of the chain that others state: they are compared with the own ones, cosigned by a witness, and collected from witnesses.
 *
 *   a head that is sent -> compare-heads -> evidence of two histories
 *   the tip             -> own-witness: cosignature; witness-collector: cosignatures of the witnesses that are named
 *
 * Imports runtime, errors, primitives, did, witness, proofs, light, chain, storage, resolver; used by node.
 * - Signatures are checked before a head is compared, a few at a time.
 */
import type { ChainReader } from '../../ledger/chain/reader.js'
import type { ProofAnswers } from '../../answers/resolver/proof-answers.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { displayHash, equalBytes, mapKey } from '../../base/primitives/bytes.js'
import { sha256 } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { paramsAt } from '../../base/primitives/spec.js'
import type { Log } from '../../base/runtime/env.js'
import { LruMap } from '../../base/runtime/lru-map.js'
import { WorkSlots } from '../../base/runtime/work-slots.js'
import type { ChangeJson } from '../../identity/did/state-proof.js'
import { type Anchor, anchorJson, headerOf, type KnownChain, readAnchor } from '../../identity/proofs/anchor.js'
import type { ForkEvidence } from '../../identity/proofs/fork.js'
import { ProofError } from '../../identity/proofs/proof-failure.js'
import { displayHashText, members } from '../../identity/proofs/read-json.js'
import { readTrust } from '../../identity/proofs/trust-root.js'
import { Contradiction } from '../../clients/light/contradiction.js'
import { provenFork } from '../../clients/light/fork-evidence.js'
import { Signatures } from '../../clients/light/signatures.js'
import { boundBlock } from '../../clients/light/witnessed-heads.js'

/** @tuning count: heads that did not hold, which are not checked once more */
const refusedKept = 256
/** @limit count: heads of others that wait for the check of their signatures */
const headsWaiting = 8

export interface HeadComparisonOptions {
  readonly reader: Pick<ChainReader, 'chain'>
  readonly proofs: Pick<ProofAnswers, 'anchor' | 'changes' | 'trust'>
  readonly log: Pick<Log, 'error'>
  /** Takes evidence that validators confirmed two blocks of a height: one for each height. */
  onEvidence(evidence: ForkEvidence): void
}

/** Compares heads that others send with the blocks of this node: each signature is checked only where the blocks differ. */
export class HeadComparison {
  readonly #options: HeadComparisonOptions
  readonly #signatures = new Signatures()
  readonly #refused = new LruMap<true>(refusedKept)
  readonly #slots = new WorkSlots(1, headsWaiting, 'heads to compare')
  readonly #proven = new Set<number>()

  constructor(options: HeadComparisonOptions) {
    this.#options = options
  }

  /**
   * Takes `{ chain, anchor }`, and answers with the own block of that height, or the newest one where that is lower. `request-parameter` for
   * what is no head of this chain, `busy` where too many are to be compared.
   */
  async exchange(sent: unknown): Promise<ChangeJson> {
    const { reader, proofs } = this.#options
    const { spec, tip } = reader.chain
    const { anchor, header } = this.#read(sent)
    const own = await proofs.anchor({ height: Math.min(header.height, tip.header.height) })
    const ownAnchor = readAnchor(own.anchor, spec.hasValidators)
    const ownHeader = headerOf(ownAnchor)
    const differs = ownHeader.height === header.height && !equalBytes(ownHeader.hash, header.hash)
    if (differs && spec.hasValidators) await this.#compare(anchor, header, ownAnchor)
    return own
  }

  #read(sent: unknown): { readonly anchor: Anchor; readonly header: Header } {
    const { spec, genesis } = this.#options.reader.chain
    try {
      const { chain, anchor: sentAnchor } = members(sent, 'a head')
      if (!equalBytes(displayHashText(chain), genesis.header.hash)) {
        throw new RuleError('request-parameter', `chain: this node is of the chain ${displayHash(genesis.header.hash)}`)
      }
      const anchor = readAnchor(sentAnchor, spec.hasValidators)
      return { anchor, header: headerOf(anchor) }
    } catch (error) {
      if (error instanceof ProofError) throw new RuleError('request-parameter', `anchor: ${error.message}`)
      throw error
    }
  }

  /** Looks for evidence in a head of another block. */
  async #compare(anchor: Anchor, header: Header, own: Anchor): Promise<void> {
    // All of it: a confirm that does not hold says nothing about another one of the same block.
    const id = mapKey(sha256(JSON.stringify(anchorJson(anchor))))
    if (this.#proven.has(header.height) || this.#refused.get(id) === true) return
    const release = await this.#slots.take()
    try {
      const evidence = await this.#prove(anchor, own)
      if (evidence === undefined || this.#proven.has(header.height)) return
      this.#proven.add(header.height)
      this.#options.log.error(
        { height: header.height, hash: displayHash(header.hash), evidence: JSON.stringify(evidence) },
        'two confirmed blocks of one height were shown: validators signed two histories',
      )
      this.#options.onEvidence(evidence)
    } catch (error) {
      if (!(error instanceof ProofError)) throw error
      this.#refused.set(id, true)
    } finally {
      release()
    }
  }

  async #prove(anchor: Anchor, own: Anchor): Promise<ForkEvidence | undefined> {
    const { spec, genesis } = this.#options.reader.chain
    const keysAt = (height: number) => paramsAt(spec, height).validators
    const known: KnownChain = { genesis: genesis.header.hash, keysAt }
    const [other, block] = [
      await this.#signatures.settle(boundBlock(anchor, known)),
      await this.#signatures.settle(boundBlock(own, known)),
    ]
    const { proofs } = this.#options
    const self = { url: 'this node', get: (path: string) => proofs.changes(Number(path.split('/')[1])) }
    const believed = { trust: readTrust(proofs.trust()), checkpoint: undefined, signatures: this.#signatures }
    return provenFork(new Contradiction('two blocks of one height', [{ block }, { block: other }]), believed, [self])
  }
}
