import { formatDate, parseDate } from '../../identity/did/date.js'
import { encodeBase64url } from '../../identity/did/base64url.js'
import { parseDocumentBytes } from '../../identity/did/document.js'
import { didPart } from '../../identity/did/identifier.js'
import { shownOperation } from '../../identity/did/shown-operation.js'
import { credentialOfBytes } from '../../identity/did/operations/credential-operation.js'
import type { CredentialResult, ResolvedTransaction, ResolveResult } from '../../identity/did/resolution.js'
import type { ChangeJson, ChangesJson, MapProofJson, StateProof } from '../../identity/did/state-proof.js'
import { displayHash, fromHex, parseDisplayHash, toHex } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { formOfNumber } from '../../base/primitives/did-operation.js'
import type { Hash } from '../../base/primitives/hash.js'
import { Header, headerSize } from '../../base/primitives/header.js'
import { Reader } from '../../base/primitives/codec.js'
import { txType } from '../../base/primitives/payload.js'
import { payloadOf } from '../../base/primitives/transaction-parts.js'
import { changesFormat } from '../../identity/proofs/changes.js'
import { payloadBytes } from '../../identity/proofs/did-answer.js'
import { asksVersion, type DidQuestion, versionIn } from '../../identity/proofs/did-question.js'
import { type Entry, extendHistory, leafValue, readEntry, stateAfter } from '../../identity/proofs/history.js'
import { keptEntries } from '../../identity/proofs/kept-entries.js'
import { mapProofJson } from '../../identity/proofs/map-proof.js'
import { credentialMapKey, didMapKey, type Leaf, type MapKey } from '../../identity/proofs/map-tree.js'
import {
  anchorName,
  changeName,
  headersInFile,
  headersName,
  lastHeaders,
  lastHeadersName,
  type MirrorHead,
} from '../../identity/proofs/mirror-head.js'
import { type MirrorHeader, readHeadersFile } from '../../identity/proofs/mirror-headers.js'
import { type MirrorLeaf, valueBefore } from '../../identity/proofs/mirror-leaf.js'
import { wayInPage } from '../../identity/proofs/mirror-page.js'
import { headerText } from '../../identity/proofs/read-json.js'
import { expiry, proofFormat, type Status } from '../../identity/proofs/proof-answer.js'
import { ProofError } from '../../identity/proofs/proof-failure.js'
import { answerBounds } from './answer-bounds.js'
import type { Fetch, Server } from './ask-server.js'
import { LightError } from './light-error.js'
import { witnessedFormat } from './witnessed-heads.js'
import { FileBudget, MirrorFiles } from './mirror-files.js'
import { chainIds } from '../../identity/did/chain-ids.js'

/**
 * A mirror as a server: makes of its files the answers that a node gives. Nothing of them is believed: the resolver that asks checks the answer as
 * that of a node.
 */

/** Heads that are remembered: a question can be as of the block of the one before. */
const keptHeads = 8
/** @tuning count: changes of validators that are read of a mirror for one answer */
const changesAtOnce = 32

/** The way of a key through the map of a head. */
interface FoundLeaf {
  readonly siblings: readonly Hash[]
  /** A leaf of this key or another; undefined: an empty place. */
  readonly end: Leaf | undefined
}

/** The last entries of a history, from number `first` on. */
interface Entries {
  readonly first: number
  readonly base: Hash
  readonly entries: readonly Uint8Array[]
}

export class MirrorServer implements Server {
  readonly url: string
  readonly #files: MirrorFiles
  readonly #now: () => number
  readonly #heads = new Map<number, MirrorHead>()
  #newest: MirrorHead | undefined

  constructor(url: string, fetch: Fetch, now: () => number) {
    this.url = url
    this.#files = new MirrorFiles(url, fetch)
    this.#now = now
  }

  get(path: string): Promise<unknown> {
    return this.#answering(() => this.#get(path))
  }

  call(method: string, params: object): Promise<unknown> {
    return this.#answering(() => this.#call(method, params))
  }

  /** Makes an answer from the files. An unexpected error becomes `mirror-file`: a mirror may serve malformed files under the right hashes. */
  async #answering<T>(make: () => Promise<T>): Promise<T> {
    try {
      return await make()
    } catch (error) {
      if (error instanceof LightError || error instanceof ProofError) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw new LightError('mirror-file', `the files of ${this.url} hold no answer: ${reason}`)
    }
  }

  async #get(path: string): Promise<unknown> {
    const budget = new FileBudget()
    const [what, ...numbers] = path.split('/')
    const [from = 0, count = 0] = numbers.map(Number)
    if (what === 'witnessed') return this.#witnessed(budget)
    if (what === 'anchor') return this.#files.json(anchorName(from), answerBounds.chain.bytes, budget)
    // Those that belong to the answer that was given last.
    const head = this.#newest ?? (await this.#readHead(budget))
    return what === 'changes' ? this.#changes(head, from, budget) : this.#headers(head, from, count, budget)
  }

  async #call(method: string, params: object): Promise<unknown> {
    const budget = new FileBudget()
    const head = await this.#headOf(params as { readonly height?: number }, budget)
    return method === 'resolvedid'
      ? this.#didAnswer(head, params as DidQuestion & { readonly proof: unknown }, budget)
      : this.#credentialAnswer(head, params as { readonly id: string; readonly issuer?: string }, budget)
  }

  /** The newest head, with which another can be compared; a mirror keeps nothing of what it is told. */
  async tell(): Promise<unknown> {
    const { anchor, mapRoot } = await this.#readHead(new FileBudget())
    return { anchor: { ...anchor, root: mapRoot } }
  }

  /** Heads with signatures of witnesses, as of which it answers from now on. */
  async #witnessed(budget: FileBudget): Promise<unknown> {
    const heads = await this.#files.cosigned(budget)
    for (const head of [...heads].reverse()) this.#keep(head)
    return {
      format: witnessedFormat,
      chain: heads[0]?.chain,
      heads: heads.map(({ height, cosignatures = [] }) => ({ height, cosignatures })),
    }
  }

  /** The head as of which is answered: the newest, or that of a height. */
  async #headOf({ height }: { readonly height?: number }, budget: FileBudget): Promise<MirrorHead> {
    const kept = height === undefined ? undefined : this.#heads.get(height)
    const head = kept ?? (await this.#readHead(budget))
    if (height === undefined || head.height === height) return head
    throw new LightError('proof-missing', `${this.url} answers as of block ${head.height}, not ${height}`)
  }

  async #readHead(budget: FileBudget): Promise<MirrorHead> {
    const head = await this.#files.head(budget)
    this.#newest = head
    this.#keep(head)
    return head
  }

  #keep(head: MirrorHead): void {
    this.#heads.set(head.height, head)
    if (this.#heads.size > keptHeads) this.#heads.delete(this.#heads.keys().next().value as number)
  }

  async #didAnswer(
    head: MirrorHead,
    { proof, ...question }: DidQuestion & { readonly proof: unknown },
    budget: FileBudget,
  ): Promise<ResolveResult> {
    const { did } = question
    const key = didMapKey(did)
    const way = await this.#way(head, key, budget)
    const leaf = await this.#leafAt(way, key, budget)
    if (leaf === undefined) return { did, status: 3, proof: proofOf(head, [mapOf(way)]) }
    const needed = await this.#entries(
      leaf,
      (entries, first) => {
        if (proof === 'history' || question.all === true) return first === 0
        return !asksVersion(question) || versionIn(historyOf(leaf, entries), question) >= 0
      },
      budget,
    )
    const shown = shownIn(leaf, needed, question)
    const transaction: ResolvedTransaction[] = []
    for (const number of shown) transaction.push(await this.#transaction(did, leaf, needed, number, budget))
    const from = proof === 'history' || shown.length === 0 ? 0 : (shown.at(-1) as number)
    const map = mapOf(way, partFrom(leaf, needed, from))
    const isLast = shown[0] === leaf.count - 1
    return {
      did,
      status: this.#status(head, leaf, isLast ? transaction[0] : undefined),
      transaction,
      proof: proofOf(head, [map]),
    }
  }

  #status(head: MirrorHead, { state }: MirrorLeaf, last: ResolvedTransaction | undefined): Status {
    if (state === 2) return 2
    if (last === undefined) return 0
    const { expiresAt } = parseDocumentBytes(payloadBytes(last.operation.payload), chainIds)
    return expiry(expiresAt, this.#timeAt(head))
  }

  /** Unix milliseconds: the clock, and never before the time of the block. */
  #timeAt({ anchor }: MirrorHead): number {
    return Math.max(this.#now(), (headerText(anchor.header)?.time ?? 0) * 1000)
  }

  async #credentialAnswer(
    head: MirrorHead,
    { id, issuer }: { readonly id: string; readonly issuer?: string },
    budget: FileBudget,
  ): Promise<CredentialResult> {
    const owner = didPart(id)
    const own = await this.#saying(head, id, owner, budget)
    const declared = declaredIn(own)
    const signers = new Set([owner, declared?.issuer ?? owner, issuer ?? owner])
    signers.delete(owner)
    const said = [own]
    for (const signer of signers) said.push(await this.#saying(head, id, signer, budget))
    const isRevoked = said.some(({ leaf }) => leaf?.state === 2)
    const expires = declared?.expirationDate
    const date = expires === undefined ? undefined : parseDate(expires)
    const status = isRevoked ? 2 : declared === undefined ? 3 : expiry(date, this.#timeAt(head))
    const transaction = said
      .flatMap(({ shown }) => shown)
      .sort((a, b) => b.height - a.height)
      .map(({ resolved }) => resolved)
    const proof = proofOf(
      head,
      said.map(({ map }) => map),
    )
    return { id, status, ...(transaction.length > 0 && { transaction }), proof }
  }

  /** Reads what a DID said of a credential: the leaf, its way, and its transactions, newest first. */
  async #saying(head: MirrorHead, id: string, signer: string, budget: FileBudget) {
    const key = credentialMapKey(id, signer)
    const way = await this.#way(head, key, budget)
    const leaf = await this.#leafAt(way, key, budget)
    if (leaf === undefined) return { leaf, map: mapOf(way), shown: [] }
    const { entries, transactions, base } = leaf
    if (entries.length !== leaf.count || transactions.length !== leaf.count) throw this.#missing(leaf)
    const shown = entries.map(readEntry).map((entry, i) => {
      return { height: entry.height, resolved: resolvedOf(entry, transactions[i] as Uint8Array, didPart(id)) }
    })
    return { leaf, map: mapOf(way, partFrom(leaf, { first: 0, base, entries }, 0)), shown: shown.reverse() }
  }

  async #way({ mapRoot }: MirrorHead, key: MapKey, budget: FileBudget): Promise<FoundLeaf> {
    const siblings: Hash[] = []
    let hash = fromHex(mapRoot) as Hash
    if (hash.every((byte) => byte === 0)) return { siblings, end: undefined }
    for (let depth = 0; depth < 256; depth += 4) {
      const page = await this.#files.page(hash, { depth, key }, budget)
      const { siblings: more, end } = wayInPage(page, depth, key)
      siblings.push(...more)
      if (end === undefined || 'key' in end) return { siblings, end }
      hash = end.hash
    }
    throw this.#files.wrong(toHex(hash), 'leads deeper than a key goes')
  }

  /** The leaf at the end of a way; undefined: it is none of this key. */
  async #leafAt({ end }: FoundLeaf, key: MapKey, budget: FileBudget): Promise<MirrorLeaf | undefined> {
    if (end === undefined || toHex(end.key) !== toHex(key)) return undefined
    return this.#files.leaf(end.value, key, budget)
  }

  /** The last entries of a leaf, back to where `isEnough`, or all. */
  async #entries(
    leaf: MirrorLeaf,
    isEnough: (entries: readonly Uint8Array[], first: number) => boolean,
    budget: FileBudget,
  ): Promise<Entries> {
    let oldest = leaf
    let entries = leaf.entries
    for (;;) {
      const first = leaf.count - entries.length
      const before = valueBefore(oldest)
      if (before === undefined || isEnough(entries, first)) return { first, base: oldest.base, entries }
      oldest = await this.#files.leaf(before, leaf.key, budget)
      entries = [...oldest.entries, ...entries]
    }
  }

  /** The transaction of an operation by its number. */
  async #transaction(
    did: string,
    leaf: MirrorLeaf,
    known: Entries,
    number: number,
    budget: FileBudget,
  ): Promise<ResolvedTransaction> {
    const upTo = known.entries.slice(0, number + 1 - known.first)
    const entry = readEntry(upTo.at(-1) as Uint8Array)
    const digest = upTo.reduce(extendHistory, known.base)
    const value = leafValue({ state: stateAfter(entry.operation), count: number + 1, digest })
    const version = number + 1 === leaf.count ? leaf : await this.#files.leaf(value, leaf.key, budget)
    const kept = keptEntries(version.entries.map(readEntry))
    const bytes = version.transactions.at(-1)
    if (bytes === undefined || version.transactions.length !== kept.length) throw this.#missing(version)
    return resolvedOf(entry, bytes, did)
  }

  #missing({ count }: MirrorLeaf): LightError {
    return new LightError('proof-missing', `${this.url} has not the documents of version ${count}`)
  }

  async #changes(head: MirrorHead, from: number, budget: FileBudget): Promise<ChangesJson> {
    const read = (number: number) => this.#change(number, budget)
    let [low, high] = [0, head.changes]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((await read(middle)).height > from) high = middle
      else low = middle + 1
    }
    const changes: ChangeJson[] = []
    for (let number = low; number < Math.min(head.changes, low + changesAtOnce); number++)
      changes.push(await read(number))
    const more = low + changes.length < head.changes
    return { format: changesFormat, chain: head.chain, tip: head.height, changes, more }
  }

  async #change(number: number, budget: FileBudget): Promise<ChangeJson> {
    const name = changeName(number)
    const change = (await this.#files.json(name, answerBounds.chain.bytes, budget)) as ChangeJson | null
    if (typeof change?.height !== 'number') throw this.#files.wrong(name, 'is no change of validators')
    return change
  }

  /** Headers from a height on, as many as one file has; those of the last files all at once. */
  async #headers(head: MirrorHead, from: number, count: number, budget: FileBudget): Promise<string[]> {
    const number = Math.floor(from / headersInFile)
    const headers =
      number < head.headers
        ? (await this.#headersIn(headersName(number), headersInFile, budget)).slice(from % headersInFile)
        : await this.#lastFrom(head, from, budget)
    return headers.slice(0, count).map(({ header }) => encodeBase64url(header))
  }

  /** The headers from a height on, up to the tip: each file leads to the one before by the hash in its first header. */
  async #lastFrom({ tip, headers: whole }: MirrorHead, from: number, budget: FileBudget): Promise<MirrorHeader[]> {
    let hash = tip === undefined ? undefined : parseDisplayHash(tip)
    let found: MirrorHeader[] = []
    while (hash !== undefined) {
      const name = lastHeadersName(hash)
      const some = await this.#headersIn(name, lastHeaders, budget)
      const first = some[0] && headerIn(some[0])
      if (first === undefined) throw this.#files.wrong(name, 'has no header')
      found = [...some, ...found]
      if (first.height <= Math.max(from, whole * headersInFile)) return found.slice(Math.max(0, from - first.height))
      hash = first.previous
    }
    return []
  }

  async #headersIn(name: string, most: number, budget: FileBudget): Promise<readonly MirrorHeader[]> {
    const headers = readHeadersFile(await this.#files.bytes(name, answerBounds.chain.bytes, budget), most)
    if (headers === undefined || headers.some(({ header }) => header.length < headerSize)) {
      throw this.#files.wrong(name, 'has other bytes than headers')
    }
    return headers
  }
}

/** The numbers of the operations that a question asks for, the newest first. */
function shownIn(leaf: MirrorLeaf, { first, entries }: Entries, question: DidQuestion): readonly number[] {
  if (question.all === true) return entries.map((_, i) => leaf.count - 1 - i)
  if (!asksVersion(question)) return [leaf.count - 1]
  const place = versionIn(historyOf(leaf, entries), question)
  return place < 0 ? [] : [first + place]
}

function historyOf({ state, count, base }: MirrorLeaf, entries: readonly Uint8Array[]) {
  return { state: state as 1 | 2, count, base, entries: entries.map(readEntry) }
}

/** The history from an operation on. */
function partFrom({ state, count }: MirrorLeaf, known: Entries, from: number) {
  const left = Math.max(0, from - known.first)
  const base = known.entries.slice(0, left).reduce(extendHistory, known.base)
  const entries = known.entries.slice(left)
  return { state, count, entries, base: entries.length < count ? base : undefined }
}

function mapOf({ siblings, end }: FoundLeaf, history?: ReturnType<typeof partFrom>): MapProofJson {
  if (history !== undefined) return mapProofJson({ siblings, history })
  return mapProofJson({ siblings, ...(end && { leaf: end }) })
}

function proofOf({ chain, anchor, cosignatures }: MirrorHead, maps: readonly MapProofJson[]): StateProof {
  return { format: proofFormat, chain, anchor: { ...anchor, ...defined({ cosignatures }) }, maps }
}

/** An operation on `did`, or on a credential of it, as a node shows it. */
function resolvedOf({ txid, time }: Entry, bytes: Uint8Array, did: string): ResolvedTransaction {
  const payload = payloadOf(bytes)
  if (payload.type !== txType.did) throw new LightError('answer-transaction', `no operation in ${displayHash(txid)}`)
  return { txid: displayHash(txid), timestamp: formatDate(time), operation: shownOperation(payload.operation, did) }
}

/** The credential that its holder declared. */
function declaredIn({
  leaf,
  shown,
}: {
  readonly leaf: MirrorLeaf | undefined
  readonly shown: readonly { readonly resolved: ResolvedTransaction }[]
}) {
  const place =
    leaf?.entries.findIndex((bytes) => formOfNumber(readEntry(bytes).operation)?.effect === 'credential') ?? -1
  const declare = place < 0 ? undefined : shown[shown.length - 1 - place]
  return declare && credentialOfBytes(payloadBytes(declare.resolved.operation.payload), chainIds)
}

function headerIn({ header }: MirrorHeader): Header {
  return Header.read(new Reader(header))
}
