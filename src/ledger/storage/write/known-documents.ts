import { decodedLength } from '../../../identity/did/base64url.js'
import {
  credentialsOfPayload,
  keysOfPayload,
  type KnownDocument,
  type StoredKeys,
} from '../../../identity/did/known-document.js'
import type { DocumentTokens } from '../../../identity/did-index/document-tokens.js'
import type { DidState } from '../../../identity/did/state.js'
import { didMethod } from '../../../base/primitives/did-method.js'
import { LruMap } from '../../../base/runtime/lru-map.js'

/**
 * Above all that the operations of one block may make a node read.
 * @tuning bytes: cached facts about documents on the chain: their keys, digests of their credentials, issuers of declared ones
 */
const knownDocumentBytes = 64 * 1024 * 1024
/** Approximate maximum bytes of an entry, and of each key and credential in it. */
const entryWeight = 512
const keyWeight = 512
const credentialWeight = 128

/**
 * Mostly 2 kB each, and at most 7.
 * @tuning count: documents on the chain whose tokens are cached
 */
const tokenDocuments = 4096
/** Tokens of a document, each with few elements, that are kept; documents with more are rare. */
const tokensAtMost = 32
const elementsAtMost = 8

/** Facts read from one document, or declared credential. They never change: the entry is named by the transaction that holds it. */
interface Facts {
  payloadSize?: number
  keys?: StoredKeys
  credentials?: ReadonlySet<string>
  /** Issuer of a declared credential. */
  issuer?: string
}

/**
 * Cached facts about documents on the chain, by the txid that holds them, shared by all readers of the chain: pool, templates,
 * blocks. Bounded in bytes; the least recently used is evicted first.
 */
export class KnownDocuments {
  readonly #entries = new Map<string, { readonly facts: Facts; weight: number }>()
  readonly #tokens: LruMap<DocumentTokens>
  readonly #capacity: number
  #bytes = 0

  constructor(capacity: number = knownDocumentBytes, documents: number = tokenDocuments) {
    this.#capacity = capacity
    this.#tokens = new LruMap(documents)
  }

  /** Weight of all entries, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** The facts known about the document in the transaction with this id, in display hex. */
  facts(txid: string): Facts {
    const entry = this.#entries.get(txid) ?? { facts: {}, weight: 0 }
    this.#entries.delete(txid)
    this.#entries.set(txid, entry)
    this.weigh(txid)
    return entry.facts
  }

  /** Takes what is known of a document that an operation has just brought, so that the next operation of its DID need not read it. */
  learn({ documentTxid, documentPayloadSize, document }: DidState): void {
    const facts = this.facts(documentTxid)
    const { id, expiresAt, authentication, authorization, control, credentials } = document
    facts.payloadSize ??= documentPayloadSize
    facts.keys ??= { id, expiresAt, authentication, authorization, control }
    facts.credentials ??= credentials
    this.weigh(documentTxid)
  }

  /** The tokens of the document in that transaction, by which searches find it, if they are kept. */
  tokens(txid: string): DocumentTokens | undefined {
    return this.#tokens.get(txid)
  }

  /** Takes the tokens of a document: its next change needs to know what is no longer so. */
  keepTokens(txid: string, tokens: DocumentTokens): void {
    if (tokens.size > tokensAtMost) return
    const kept = new Map<string, readonly number[]>()
    for (const [token, elements] of tokens) {
      if (elements.length > elementsAtMost) return
      // A list that has grown has room for more.
      kept.set(token, elements.length === 1 ? elements : [...elements])
    }
    this.#tokens.set(txid, kept)
  }

  /** Updates the weight of an entry; to be called after more of the document was read. */
  weigh(txid: string): void {
    const entry = this.#entries.get(txid)
    if (entry === undefined) return
    const weight = weightOf(entry.facts)
    this.#bytes += weight - entry.weight
    entry.weight = weight
    for (const [oldest, { weight: freed }] of this.#entries) {
      if (this.#bytes <= this.#capacity) return
      this.#entries.delete(oldest)
      this.#bytes -= freed
    }
  }
}

function weightOf({ keys, credentials }: Facts): number {
  const controllers = keys?.control?.controllers.length ?? 0
  const count = (keys?.authentication.size ?? 0) + (keys?.authorization.size ?? 0) + controllers
  return entryWeight + count * keyWeight + (credentials?.size ?? 0) * credentialWeight
}

/** Document facts for a reader of one state: each document is read once, even if the shared cache evicts it. */
export class DocumentReader {
  readonly #shared: KnownDocuments
  readonly #own = new Map<string, Facts>()

  constructor(shared: KnownDocuments) {
    this.#shared = shared
  }

  /** `read` returns the payload that holds the document, in base64url. */
  state(head: Omit<DidState, 'document' | 'documentPayloadSize'>, read: () => string): DidState {
    const txid = head.documentTxid
    return new StoredDid(head, this.#facts(txid), read, () => this.#shared.weigh(txid))
  }

  /** The issuer of the credential in the declare with this id, which `read` finds. */
  issuer(txid: string, read: () => string): string {
    return (this.#facts(txid).issuer ??= read())
  }

  #facts(txid: string): Facts {
    const facts = this.#own.get(txid) ?? this.#shared.facts(txid)
    this.#own.set(txid, facts)
    return facts
  }
}

/** A state that reads parts of its document on first use. */
class StoredDid implements DidState, KnownDocument {
  readonly status: DidState['status']
  readonly operationCount: number
  readonly lastTxid: string
  readonly documentTxid: string
  readonly #facts: Facts
  readonly #read: () => string
  readonly #changed: () => void

  constructor(
    head: Omit<DidState, 'document' | 'documentPayloadSize'>,
    facts: Facts,
    read: () => string,
    changed: () => void,
  ) {
    this.status = head.status
    this.operationCount = head.operationCount
    this.lastTxid = head.lastTxid
    this.documentTxid = head.documentTxid
    this.#facts = facts
    this.#read = read
    this.#changed = changed
  }

  get documentPayloadSize(): number {
    return (this.#facts.payloadSize ??= decodedLength(this.#read().length))
  }

  get document(): KnownDocument {
    return this
  }

  get id(): string {
    return this.#keys.id
  }

  get expiresAt(): number {
    return this.#keys.expiresAt
  }

  get authentication(): KnownDocument['authentication'] {
    return this.#keys.authentication
  }

  get authorization(): KnownDocument['authorization'] {
    return this.#keys.authorization
  }

  get control(): KnownDocument['control'] {
    return this.#keys.control
  }

  get credentials(): ReadonlySet<string> {
    if (this.#facts.credentials === undefined) {
      this.#facts.credentials = credentialsOfPayload(this.#read(), didMethod)
      this.#changed()
    }
    return this.#facts.credentials
  }

  get #keys(): StoredKeys {
    if (this.#facts.keys === undefined) {
      this.#facts.keys = keysOfPayload(this.#read(), didMethod)
      this.#changed()
    }
    return this.#facts.keys
  }
}
