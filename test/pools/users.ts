import {
  buildCreate,
  buildDeactivate,
  buildDocument,
  buildUpdate,
  type PlannedKey,
} from '../../src/identity/did/build.js'
import { credentialDigest } from '../../src/identity/did/known-document.js'
import type { DidState } from '../../src/identity/did/state.js'
import {
  didFromPublicKey,
  prefix,
  programHash,
  type ProgramHash,
  singleKeyCode,
} from '../../src/base/primitives/address.js'
import { mapKey } from '../../src/base/primitives/bytes.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import type { Payload } from '../../src/base/primitives/payload.js'
import { sortPrograms, standardProgram } from '../../src/base/primitives/program.js'
import { finalSequence } from '../../src/base/primitives/input.js'
import { Transaction } from '../../src/base/primitives/transaction.js'
import type { Outpoint, TransactionFields } from '../../src/base/primitives/transaction-fields.js'
import type { TestChain } from '../support/builders/chain.js'
import type { SeededRandom } from '../support/builders/seeded-random.js'
import { created, didRules, expires, issueCredential, signer, specification } from '../support/builders/did.js'
import { type QuickSigner, quickSigner } from '../support/builders/signatures.js'

/** Fragments of keys that documents swap, beside `#primary`. */
const fragments = ['k', 'issuing', 'recovery']
const expiries = [expires, '2026-02-01T00:00:00Z', '2029-12-31T00:00:00Z']

/** An output that a user of the world can spend. */
interface Owned extends Outpoint {
  readonly value: bigint
  readonly owner: QuickSigner
}

interface Actor {
  readonly did: string
  readonly primary: QuickSigner
}

/**
 * People who pay each other and keep DIDs whose documents swap few keys under few ids: of a pool of their transactions many
 * build on each other, and many can make each other invalid.
 */
export class Users {
  readonly actors: readonly Actor[]
  readonly #random: SeededRandom
  readonly #payers: readonly QuickSigner[]
  readonly #ring: readonly QuickSigner[]
  readonly #signers = new Map<string, QuickSigner>()
  /** Texts of all credentials by what the state of a DID keeps of them. */
  readonly #credentials = new Map<string, string>()
  readonly #outputs: Owned[] = []
  #serial = 0

  constructor(random: SeededRandom) {
    const make = (count: number) => Array.from({ length: count }, () => quickSigner(random.bytes(32)))
    this.#random = random
    this.#payers = make(4)
    this.#ring = make(4)
    this.actors = make(4).map((primary) => {
      return { did: didFromPublicKey(primary.publicKey, { method: didRules.method }), primary }
    })
    const all = [...this.#ring, ...this.actors.map(({ primary }) => primary)]
    for (const one of all) this.#signers.set(mapKey(one.publicKey), one)
  }

  /** Who the coins of the world go to at its beginning. */
  payees(count: number): ProgramHash[] {
    return Array.from({ length: count }, (_, i) => payee(this.#payers[i % this.#payers.length] as QuickSigner))
  }

  /** Takes note of the outputs of a transaction, so that others can spend them. */
  note(transaction: Transaction): void {
    for (const [index, { value, programHash }] of transaction.outputs.entries()) {
      const owner = this.#payers.find((one) => mapKey(payee(one)) === mapKey(programHash))
      if (owner !== undefined) this.#outputs.push({ txid: transaction.hash, index, value, owner })
    }
  }

  /** Something that may be valid on top of the pool; undefined where there is nothing to pay with. */
  next(test: TestChain): Transaction | undefined {
    const choice = this.#random.below(10)
    if (choice < 3) return this.#carry(test, { type: 2 })
    const actor = this.#one(this.actors)
    const { pending, state } = this.#last(test, actor.did)
    if (state === undefined || this.#random.below(20) === 0) {
      return this.#carry(test, { type: 10, operation: this.#create(test, actor) })
    }
    if (choice < 8) return this.#carry(test, { type: 10, operation: this.#update(test, actor, state) })
    // One that is paid with change of what it would replace follows it.
    const from = this.#random.below(2) === 0 ? pending : undefined
    return this.#carry(test, { type: 10, operation: this.#deactivate(actor, state) }, from)
  }

  /** The create of an actor's DID. */
  create(test: TestChain, actor: Actor): Transaction | undefined {
    return this.#carry(test, { type: 10, operation: this.#create(test, actor) })
  }

  #create(test: TestChain, actor: Actor): DidOperation {
    const document = this.#document(test, actor, undefined)
    return buildCreate(document, { specification, verificationMethod: '#primary' }, signer(actor.primary))
  }

  #update(test: TestChain, actor: Actor, state: DidState): DidOperation {
    const document = this.#document(test, actor, state)
    const [verificationMethod, by] = this.#signerOf(state, actor, false)
    return buildUpdate(document, { specification, verificationMethod, previousTxid: state.lastTxid }, signer(by))
  }

  #deactivate(actor: Actor, state: DidState): DidOperation {
    const [verificationMethod, by] = this.#signerOf(state, actor, true)
    return buildDeactivate(actor.did, { specification, verificationMethod }, signer(by))
  }

  /** The id of a key of a document and who signs with it, now and then another signer. */
  #signerOf({ document }: DidState, actor: Actor, delegates: boolean): [string, QuickSigner] {
    const keys = [...document.authentication, ...(delegates ? document.authorization : [])]
    // A DID that is deactivated has no keys any more: what they would sign is refused.
    const [id, publicKey] = keys.length === 0 ? [`${actor.did}#primary`, ''] : this.#one(keys)
    const right = this.#signers.get(publicKey) ?? actor.primary
    return [id, this.#random.below(12) === 0 ? this.#one(this.#ring) : right]
  }

  #document(test: TestChain, actor: Actor, previous: DidState | undefined): ReturnType<typeof buildDocument> {
    const ring = [...this.#ring].sort(() => this.#random.below(3) - 1)
    const keys: PlannedKey[] = [{ fragment: 'primary', publicKey: actor.primary.publicKey, use: 'authentication' }]
    for (const [i, fragment] of fragments.entries()) {
      const publicKey = (ring[i] as QuickSigner).publicKey
      const roll = this.#random.below(10)
      if (roll < 6) keys.push({ fragment, publicKey, use: 'authentication' })
      else if (roll < 8) {
        const controller = this.#one(this.actors.filter(({ did }) => did !== actor.did)).did
        keys.push({ fragment, publicKey, use: 'authorization', controller })
      } else if (roll < 9) keys.push({ fragment, publicKey, use: 'none' })
    }
    const held = [...(previous?.document.credentials ?? [])].map((digest) => this.#credentials.get(digest))
    const kept = held.filter(() => this.#random.below(3) > 0)
    const added = Array.from({ length: this.#random.below(3) }, () => this.#credential(test, actor))
    const credentials = [...kept, ...added].filter((text) => text !== undefined)
    const plan = { method: didRules.method, did: actor.did, keys, credentials }
    return buildDocument({ ...plan, expires: this.#one(expiries), created }, signer(actor.primary))
  }

  /** By a key that the issuer has on the chain, mostly. */
  #credential(test: TestChain, subject: Actor): string | undefined {
    const issuer = this.#one(this.actors)
    const roll = this.#random.below(10)
    const state = roll < 9 ? test.chain.state.did(issuer.did) : this.#last(test, issuer.did).state
    if (state === undefined) return undefined
    const [method, by] = this.#signerOf(state, issuer, false)
    const changes = { id: `${subject.did}#c${this.#serial++}` }
    const text = issueCredential(issuer.did, by, subject.did, changes, method)
    this.#credentials.set(credentialDigest({ text }), text)
    return text
  }

  /** The last state of a DID as the pool has it, and the transaction that waits with it. */
  #last({ mempool, chain }: TestChain, did: string): { pending?: Transaction; state: DidState | undefined } {
    const entry = [...mempool.entries()].filter((one) => one.did?.id === did).at(-1)
    if (entry?.did === undefined) return { state: chain.state.did(did) }
    return { pending: entry.transaction, state: entry.did.state }
  }

  /** Pays for a payload, from an output of `from` where it is given. */
  #carry({ mempool, chain }: TestChain, payload: Payload, from?: Transaction): Transaction | undefined {
    const random = this.#random
    const free = this.#outputs.filter((coin) => {
      if (mempool.spender(coin) !== undefined) return false
      return mempool.get(coin.txid) !== undefined || chain.state.coin(coin) !== undefined
    })
    const wanted = from === undefined ? [] : free.filter(({ txid }) => mapKey(txid) === mapKey(from.hash))
    const pooled = free.filter(({ txid }) => mempool.get(txid) !== undefined)
    const some = wanted.length > 0 ? wanted : pooled.length > 0 && random.below(2) === 0 ? pooled : free
    if (some.length === 0) return undefined
    const coins = [...new Set([this.#one(some), ...(random.below(5) === 0 ? [this.#one(some)] : [])])]
    const fee = BigInt(12_000 + random.below(300_000))
    const left = coins.reduce((sum, { value }) => sum + value, 0n) - fee
    if (left < 100_000n) return undefined
    const { assetId } = chain.sanity
    const values = random.below(3) > 0 ? [left / 2n, left - left / 2n] : [left]
    const fields: TransactionFields = {
      version: 0,
      payloadVersion: 0,
      payload,
      attributes: [{ usage: 0, data: random.bytes(8) }],
      inputs: coins.map(({ txid, index }) => ({ txid, index, sequence: finalSequence })),
      outputs: values.map((value) => ({ assetId, value, outputLock: 0, programHash: payee(this.#one(this.#payers)) })),
      lockTime: 0,
      programs: [],
    }
    const { unsigned } = new Transaction(fields)
    const owners = [...new Set(coins.map(({ owner }) => owner))]
    const programs = owners.map((owner) => standardProgram(owner.publicKey, owner.sign(unsigned)))
    const transaction = new Transaction({ ...fields, programs: sortPrograms(programs) })
    this.note(transaction)
    return transaction
  }

  #one<T>(all: readonly T[]): T {
    return all[this.#random.below(all.length)] as T
  }
}

function payee({ publicKey }: QuickSigner): ProgramHash {
  return programHash(prefix.standard, singleKeyCode(publicKey))
}
