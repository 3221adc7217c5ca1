import type { QuickSigner } from '../../../src/base/crypto/quick-signer.js'
import { encodeBase64url } from '../../../src/identity/did/base64url.js'
import { formatDate } from '../../../src/identity/did/date.js'
import { didPart } from '../../../src/identity/did/identifier.js'
import { namedCredential, namedDid } from '../../../src/identity/did/named-did.js'
import { Block, fullHeaderBytes, transactionRoot, witnessRoot } from '../../../src/base/primitives/block.js'
import { concat, displayHash, mapKey, toHex } from '../../../src/base/primitives/bytes.js'
import { easiestBits } from '../../../src/base/primitives/compact.js'
import { type Confirm, proposalHash, proposalUnsigned, voteUnsigned } from '../../../src/base/primitives/confirm.js'
import { type DidOperation, operationForms, type OperationName } from '../../../src/base/primitives/did-operation.js'
import { type Hash, sha256, zeroHash } from '../../../src/base/primitives/hash.js'
import { Header, type HeaderFields } from '../../../src/base/primitives/header.js'
import { firstBranchSteps } from '../../../src/base/primitives/merkle.js'
import { finish } from '../../../src/base/primitives/steps.js'
import { coinbaseInput } from '../../../src/base/primitives/input.js'
import { attributeUsage, Transaction } from '../../../src/base/primitives/transaction.js'
import type { Attribute } from '../../../src/base/primitives/transaction-fields.js'
import { keysHash } from '../../../src/identity/proofs/anchor.js'
import { compactConfirm } from '../../../src/identity/proofs/anchor-confirm.js'
import { commitmentTag, encodeCommitments } from '../../../src/identity/proofs/commitment.js'
import {
  emptyHistory,
  type Entry,
  entryBytes,
  extendHistory,
  readEntry,
  stateAfter,
  valueOfHistory,
} from '../../../src/identity/proofs/history.js'
import { mapProofJson } from '../../../src/identity/proofs/map-proof.js'
import {
  bitAt,
  credentialMapKey,
  didMapKey,
  didRoot,
  type Leaf,
  type MapKey,
} from '../../../src/identity/proofs/map-tree.js'
import { shownOperation } from '../../../src/identity/did/shown-operation.js'
import { solved } from './blocks.js'
import { naiveRoot } from './naive-map.js'

/**
 * A chain as its proofs show it, straight from the definitions: blocks made by hand, or those of a real chain. Nothing checks whether the
 * chain would accept them, so that a test can prove what no chain says.
 */

/** Entries by the text of a map key. */
type Histories = ReadonlyMap<string, { readonly key: MapKey; readonly entries: readonly Uint8Array[] }>

interface Page {
  readonly block: Block
  readonly confirm: Confirm | undefined
  readonly histories: Histories
}

/** Validators from a height on. */
export interface Team {
  readonly height: number
  readonly signers: readonly QuickSigner[]
}

export interface BlockPlan {
  readonly operations?: readonly DidOperation[]
  readonly time?: number
  readonly header?: Partial<HeaderFields>
  /** Instead of the right one. */
  readonly mapRoot?: Hash
  readonly genesis?: Hash
  readonly attributes?: (right: Attribute) => readonly Attribute[]
  /** Transactions besides those of the operations. */
  readonly padding?: number
  readonly sign?: (block: Block) => Confirm
}

export class ProofBook {
  readonly pages: Page[] = []
  readonly teams: Team[]
  readonly transactions = new Map<string, Transaction>()

  /** Without teams: a chain without validators. */
  constructor(genesis: Block, teams: readonly Team[] = []) {
    this.teams = [...teams]
    this.push(genesis)
  }

  get genesis(): Hash {
    return (this.pages[0] as Page).block.header.hash
  }

  get tip(): Header {
    return this.page(this.pages.length - 1).block.header
  }

  page(height: number): Page {
    const page = this.pages[height]
    if (page === undefined) throw new RangeError(`no block ${height}`)
    return page
  }

  team(height: number): readonly QuickSigner[] {
    return this.teams.filter((team) => team.height <= height).at(-1)?.signers ?? []
  }

  keys(height: number): readonly Uint8Array[] {
    return this.team(height).map(({ publicKey }) => publicKey)
  }

  push(block: Block, confirm?: Confirm): void {
    const { height } = block.header
    if (height !== this.pages.length) throw new RangeError(`block ${height} as number ${this.pages.length}`)
    for (const transaction of block.transactions) this.transactions.set(transaction.txid, transaction)
    this.pages.push({ block, confirm, histories: this.#after(block.transactions, block.header) })
  }

  pop(): void {
    this.pages.pop()
  }

  #after(transactions: readonly Transaction[], { height, time }: Pick<Header, 'height' | 'time'>): Histories {
    const histories = new Map(this.pages[height - 1]?.histories ?? [])
    for (const { payload, hash } of transactions) {
      if (payload.type !== 10) continue
      const { operation } = payload
      const key = keyOf(operation)
      const before = histories.get(mapKey(key))?.entries ?? []
      const number = operationForms[operation.operation as OperationName].number
      const entry = { operation: number, height, time, txid: hash, payloadHash: sha256(operation.payload) }
      histories.set(mapKey(key), { key, entries: [...before, entryBytes(entry)] })
    }
    return histories
  }

  /** Makes the next block, right in what the plan does not change, and adds it. */
  make(plan: BlockPlan = {}): Block {
    const block = this.craft(plan)
    const isConfirmed = this.teams.length > 0
    this.push(
      block,
      isConfirmed ? (plan.sign?.(block) ?? confirmOf(block.header, this.team(block.header.height))) : undefined,
    )
    return block
  }

  craft({ operations = [], time = this.tip.time + 10, padding = 0, ...plan }: BlockPlan = {}): Block {
    const height = this.pages.length
    const others = [
      ...operations.map((operation, i) => paper(height, i, { type: 10, operation })),
      ...Array.from({ length: padding }, (_, i) => paper(height, 1000 + i, { type: 2 })),
    ]
    const mapRoot = plan.mapRoot ?? naiveRoot(leavesOf(this.#after(others, { height, time })))
    const entries = new Map<number, Hash>([
      [commitmentTag.witnessRoot, witnessRoot([paper(0, 0, { type: 2 }), ...others])],
      [commitmentTag.didRoot, didRoot(plan.genesis ?? this.genesis, mapRoot)],
      ...(this.teams.length > 0
        ? ([[commitmentTag.nextValidators, keysHash(this.keys(height + 1))]] as [number, Hash][])
        : []),
    ])
    const right = { usage: attributeUsage.memo, data: encodeCommitments(entries) }
    const coinbase = new Transaction({
      version: 0,
      payloadVersion: 4,
      payload: { type: 0, data: new Uint8Array(0) },
      attributes: [{ usage: attributeUsage.nonce, data: new Uint8Array(8) }, ...(plan.attributes?.(right) ?? [right])],
      inputs: [coinbaseInput],
      outputs: [{ assetId: zeroHash, value: 1n, outputLock: 0, programHash: new Uint8Array(21) }],
      lockTime: height,
      programs: [],
    })
    const all = [coinbase, ...others]
    const fields = {
      version: 0,
      previous: this.tip.hash,
      merkleRoot: transactionRoot(all),
      time,
      bits: easiestBits,
      nonce: 0,
      height,
    }
    const header = new Header({ ...fields, ...plan.header })
    return new Block(header, solved(header), all)
  }

  anchor(height: number, withRoot = false) {
    const { block, confirm, histories } = this.page(height)
    const [coinbase, ...others] = block.transactions as [Transaction, ...Transaction[]]
    return {
      header: encodeBase64url(block.header.bytes),
      coinbase: encodeBase64url(coinbase.unsigned),
      branch: encodeBase64url(concat(...finish(firstBranchSteps(others.map(({ hash }) => hash))))),
      ...(confirm && { confirm: encodeBase64url(compactConfirm(confirm, this.keys(height))) }),
      ...(withRoot && { root: toHex(naiveRoot(leavesOf(histories))) }),
    }
  }

  /** The MapProof of a key with the last `given` entries of its history. */
  map(key: MapKey, height: number, given = Infinity) {
    const { histories } = this.page(height)
    const { siblings, end } = naiveWay(leavesOf(histories), key)
    const all = histories.get(mapKey(key))?.entries
    if (all === undefined) return mapProofJson({ siblings, ...(end && { leaf: end }) })
    const left = Math.max(0, all.length - given)
    const last = readEntry(all.at(-1) as Uint8Array).operation
    const base = left === 0 ? undefined : all.slice(0, left).reduce(extendHistory, emptyHistory)
    const history = { state: stateAfter(last), count: all.length, entries: all.slice(left), base }
    return mapProofJson({ siblings, history })
  }

  proof(maps: readonly unknown[], height: number) {
    return { format: 'didledger/proof/1', chain: displayHash(this.genesis), anchor: this.anchor(height), maps }
  }

  history(key: MapKey, height: number): readonly Entry[] {
    return (this.page(height).histories.get(mapKey(key))?.entries ?? []).map(readEntry)
  }

  shown(entry: Entry, did: string) {
    const txid = displayHash(entry.txid)
    const payload = this.transactions.get(txid)?.payload
    if (payload?.type !== 10) throw new RangeError(`no operation ${txid}`)
    return { txid, timestamp: formatDate(entry.time), operation: shownOperation(payload.operation, did) }
  }

  /** The answer about a DID; `status` is that of `now`, in Unix seconds. */
  answer(did: string, asked: DidAsked = {}, now = this.tip.time) {
    const { height = this.pages.length - 1, proof = true } = asked
    const entries = this.history(didMapKey(did), height)
    const last = entries.length - 1
    const place =
      asked.versionId !== undefined
        ? entries.findIndex(({ txid }) => displayHash(txid) === asked.versionId)
        : asked.versionTime !== undefined
          ? entries.findLastIndex(({ time }) => formatDate(time) <= (asked.versionTime as string))
          : last
    const shown = asked.all === true ? [...entries].reverse() : place < 0 ? [] : [entries[place] as Entry]
    const oldest = asked.all === true || place < 0 ? 0 : place
    const given = proof === 'history' ? Infinity : entries.length - oldest
    return {
      did,
      status: this.#status(entries, now),
      ...(entries.length > 0 && { transaction: shown.map((entry) => this.shown(entry, did)) }),
      proof: this.proof([this.map(didMapKey(did), height, given)], height),
    }
  }

  #status(entries: readonly Entry[], now: number): 0 | 1 | 2 | 3 {
    const last = entries.at(-1)
    if (last === undefined) return 3
    if (last.operation === operationForms.deactivate.number) return 2
    const { payload } = this.shown(last, '').operation
    const { expires } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { expires: string }
    return Date.parse(expires) <= now * 1000 ? 1 : 0
  }

  credential(id: string, asked: { issuer?: string | undefined; height?: number } = {}, now = this.tip.time) {
    const { height = this.pages.length - 1 } = asked
    const owner = didPart(id)
    const own = this.history(credentialMapKey(id, owner), height)
    const declare = own.find(({ operation }) => operation === operationForms.declare.number)
    const text = declare && Buffer.from(this.shown(declare, owner).operation.payload, 'base64url').toString()
    const credential =
      text === undefined ? undefined : (JSON.parse(text) as { issuer?: string; expirationDate?: string })
    const signers = [...new Set([owner, credential?.issuer ?? owner, asked.issuer ?? owner])]
    const said = signers.flatMap((signer) => this.history(credentialMapKey(id, signer), height))
    const isRevoked = said.some(({ operation }) => operation === operationForms.revoke.number)
    const isExpired = Date.parse(credential?.expirationDate ?? '9999-01-01T00:00:00Z') <= now * 1000
    const shown = said.sort((a, b) => b.height - a.height).map((entry) => this.shown(entry, owner))
    return {
      id,
      status: isRevoked ? 2 : credential === undefined ? 3 : isExpired ? 1 : 0,
      ...(shown.length > 0 && { transaction: shown }),
      proof: this.proof(
        signers.map((signer) => this.map(credentialMapKey(id, signer), height)),
        height,
      ),
    }
  }

  change(height: number) {
    return { height, validators: this.keys(height).map(toHex), anchor: this.anchor(height - 1, true) }
  }

  changes(from: number, most = 100) {
    const heights = this.teams.map(({ height }) => height).filter((h) => h > from && h > 1 && h <= this.pages.length)
    return {
      format: 'didledger/changes/1',
      chain: displayHash(this.genesis),
      tip: this.pages.length - 1,
      changes: heights.slice(0, most).map((height) => this.change(height)),
      more: heights.length > most,
    }
  }

  headers(from: number, count: number): string[] {
    const found = this.pages.slice(from, from + count)
    return found.map(({ block }) => encodeBase64url(fullHeaderBytes(block.header, block.auxPow)))
  }

  trust(changes: object = {}) {
    const { header } = this.page(0).block
    return {
      format: 'didledger/trust/1',
      chain: header.id,
      header: encodeBase64url(header.bytes),
      devnet: false,
      maxAge: 3600,
      maxDrift: 5,
      ...(this.teams.length > 0
        ? { validators: this.keys(1).map(toHex) }
        : { powLimitBits: easiestBits, retarget: { interval: 720, spacing: 120 }, auxpowChainId: 7000 }),
      ...changes,
    }
  }

  checkpoint(height: number) {
    const keys = this.teams.length > 0 ? { keysHash: toHex(keysHash(this.keys(height + 1))) } : {}
    const { id } = this.page(height).block.header
    return { format: 'didledger/checkpoint/1', chain: displayHash(this.genesis), height, hash: id, ...keys }
  }
}

export interface DidAsked {
  readonly all?: boolean
  readonly versionId?: string
  readonly versionTime?: string
  readonly height?: number
  readonly proof?: true | 'history'
}

/** A genesis block of its own for every name. */
export function paperGenesis(name: string, time: number): Block {
  const merkleRoot = sha256(name)
  const header = new Header({
    version: 0,
    previous: zeroHash,
    merkleRoot,
    time,
    bits: easiestBits,
    nonce: 0,
    height: 0,
  })
  return new Block(header, solved(header), [])
}

function paper(height: number, index: number, payload: Transaction['payload']): Transaction {
  const data = new Uint8Array(8)
  new DataView(data.buffer).setUint32(0, height)
  new DataView(data.buffer).setUint32(4, index)
  const attributes = [{ usage: attributeUsage.nonce, data }]
  const empty = { inputs: [], outputs: [], lockTime: 0, programs: [] }
  return new Transaction({ version: 0, payloadVersion: 0, payload, attributes, ...empty })
}

/** The leaf that an operation extends. */
function keyOf(operation: DidOperation): MapKey {
  const named = namedCredential(operation)
  return named === undefined ? didMapKey(namedDid(operation) as string) : credentialMapKey(named.id, named.signer)
}

export function leavesOf(histories: Histories): Leaf[] {
  return [...histories.values()].map(({ key, entries }) => {
    const digest = entries.reduce(extendHistory, emptyHistory)
    const last = readEntry(entries.at(-1) as Uint8Array).operation
    return { key, value: valueOfHistory({ last, count: entries.length, digest }) }
  })
}

/** The way of a key, from the definition of the tree. */
export function naiveWay(leaves: readonly Leaf[], key: MapKey, depth = 0): { siblings: Hash[]; end: Leaf | undefined } {
  if (leaves.length <= 1) return { siblings: [], end: leaves[0] }
  const side = (bit: number) => leaves.filter((leaf) => bitAt(leaf.key, depth) === bit)
  const bit = bitAt(key, depth)
  const below = naiveWay(side(bit), key, depth + 1)
  return { siblings: [naiveRoot(side(1 - bit), depth + 1), ...below.siblings], end: below.end }
}

export interface ConfirmPlan {
  readonly view?: number
  /** Places of those who vote; all unless given. */
  readonly voters?: readonly number[]
  readonly accept?: boolean
  readonly blockHash?: Hash
}

export function confirmOf(header: Header, signers: readonly QuickSigner[], plan: ConfirmPlan = {}): Confirm {
  const { view = 0, voters = signers.map((_, i) => i), accept = true, blockHash = header.hash } = plan
  const sponsor = signers[(header.height + view) % signers.length] as QuickSigner
  const unsigned = { sponsor: sponsor.publicKey, blockHash, viewOffset: view }
  const proposal = { ...unsigned, signature: sponsor.sign(proposalUnsigned(unsigned)) }
  const votes = voters.map((place) => {
    const { publicKey, sign } = signers[place] as QuickSigner
    const vote = { proposalHash: proposalHash(unsigned), signer: publicKey, accept }
    return { ...vote, signature: sign(voteUnsigned(vote)) }
  })
  return { proposal, votes }
}
