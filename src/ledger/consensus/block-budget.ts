import type { ReadDocument } from '../../identity/did/state.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { fixedLimits, type Spec } from '../../base/primitives/spec.js'
import { addWork, noWork, requireWork, type SignatureWork } from './signature-work.js'

/** Costs of a connected transaction. */
interface Costs {
  readonly work: SignatureWork
  readonly did?: { readonly reads: readonly ReadDocument[] }
}

/** Costs of one block beyond its bytes: signatures, and documents that a node must read. */
export class BlockBudget {
  readonly #limits: Pick<Spec['limits'], 'blockCost'>
  readonly #share: number
  /** Documents by the txid that holds them, with whether any use is for an issuer. */
  readonly #documents = new Map<string, { readonly issuer: boolean } | undefined>()
  /** Former values of changed documents since the last {@link save}. */
  #changed: [string, { readonly issuer: boolean } | undefined][] = []
  #work = noWork
  #documentBytes = 0
  #issuers = 0

  /** `share` (0 to 1) is the part of all limits that may be used. */
  constructor(limits: Pick<Spec['limits'], 'blockCost'>, share = 1) {
    this.#limits = limits
    this.#share = share
  }

  /** Counts one more transaction; throws, and counts nothing, when it does not fit. */
  add({ work, did }: Costs): void {
    const sum = addWork(this.#work, work)
    requireWork(sum, this.#limits, this.#share)
    const reads = did?.reads
    if (reads === undefined) {
      this.#work = sum
      return
    }
    const { bytes, issuers } = this.#with(reads)
    this.#work = sum
    this.#documentBytes = bytes
    this.#issuers = issuers
    for (const { txid, issuer } of reads) {
      this.#changed.push([txid, this.#documents.get(txid)])
      this.#documents.set(txid, { issuer: issuer || this.#documents.get(txid)?.issuer === true })
    }
  }

  /** Returns what takes back all that is counted from now until the next call. */
  save(): () => void {
    const [work, bytes, issuers] = [this.#work, this.#documentBytes, this.#issuers]
    const changed: [string, { readonly issuer: boolean } | undefined][] = []
    this.#changed = changed
    return () => {
      this.#work = work
      this.#documentBytes = bytes
      this.#issuers = issuers
      for (const [txid, before] of changed.reverse()) this.#documents.set(txid, before)
    }
  }

  /** Throws when the documents of one more transaction do not fit; called before they are read. */
  require(reads: readonly ReadDocument[]): void {
    this.#with(reads)
  }

  /** Sums with the documents of one more transaction, which names each once. */
  #with(reads: readonly ReadDocument[]): { bytes: number; issuers: number } {
    let [bytes, issuers] = [this.#documentBytes, this.#issuers]
    for (const { txid, payloadSize, issuer } of reads) {
      const counted = this.#documents.get(txid)
      if (counted === undefined) bytes += payloadSize
      if (issuer && counted?.issuer !== true) issuers++
    }
    const issuerDocuments = this.#share * fixedLimits.issuerDocuments
    const documentBytes = this.#share * fixedLimits.documentBytes
    if (issuers > issuerDocuments || bytes > documentBytes) {
      throw new RuleError('block-issuer-documents', `more than ${issuerDocuments} of issuers or ${documentBytes} bytes`)
    }
    return { bytes, issuers }
  }
}
