import { readFileSync } from 'node:fs'
import { encodeBase64url } from '../../src/identity/did/base64url.js'
import { buildCreate, buildDocument, type DocumentPlan, type PlannedKey } from '../../src/identity/did/build.js'
import { parseCredential } from '../../src/identity/did/credential.js'
import { fromPlain } from '../../src/identity/did/plain.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import type { Header } from '../../src/base/primitives/header.js'
import type { Output } from '../../src/base/primitives/output.js'
import type { Spec } from '../../src/base/primitives/spec.js'
import type { Outpoint, TransactionFields } from '../../src/base/primitives/transaction-fields.js'
import { type QuickSigner, quickSigner } from '../../test/support/builders/signatures.js'
import {
  addressFromPublicKey,
  addressOf,
  type Chain,
  finalSequence,
  parseSpec,
  prefix,
  programHash,
  singleKeyCode,
  standardProgram,
  Transaction,
} from './dist.js'
import { flatFees, mineBlock } from './load.js'

const fee = 100n
/** Outputs of the genesis block. */
const genesisCoins = 2048
const genesisValue = 100_000_000n
const specification = 'ledger/did/1.0'

export interface Coin extends Outpoint {
  readonly value: bigint
}

/** A DID with its key. */
export interface Holder {
  readonly did: string
  readonly signer: QuickSigner
  readonly plan: DocumentPlan
}

/** One owner of many coins, and blocks, transactions and documents of the maximum size that the rules allow. */
export class Workshop {
  readonly chain: Chain
  readonly owner: QuickSigner
  readonly coins: Coin[] = []
  parent: Header

  constructor(chain: Chain, owner: QuickSigner) {
    this.chain = chain
    this.owner = owner
    this.parent = chain.genesis.header
    const { hash } = chain.genesis.transactions[0] as Transaction
    for (let index = 0; index < genesisCoins; index++) this.coins.push({ txid: hash, index, value: genesisValue })
  }

  /** The spec of a chain without validators that has paid all coins to one owner. */
  static spec(owner: QuickSigner): Spec {
    const file = JSON.parse(readFileSync(new URL('../../genesis/pow.json', import.meta.url), 'utf8')) as object
    const allocation = { address: addressFromPublicKey(owner.publicKey), amount: String(genesisValue) }
    const allocations = Array.from({ length: genesisCoins }, () => allocation)
    return parseSpec(JSON.stringify({ ...file, name: 'bench', fees: flatFees, allocations }))
  }

  get ownerHash(): Uint8Array {
    return standardHash(this.owner.publicKey)
  }

  output(value: bigint, to: Uint8Array = this.ownerHash): Output {
    return { assetId: this.chain.sanity.assetId, value, outputLock: 0, programHash: to }
  }

  take(count = 1): Coin[] {
    const taken = this.coins.splice(0, count)
    if (taken.length < count) throw new Error('too few coins')
    return taken
  }

  /** A transaction of the owner that spends coins, with a fee of 100; without outputs all coins go back to the owner. */
  transaction(coins: readonly Coin[], changes: Partial<TransactionFields> = {}): Transaction {
    const value = coins.reduce((sum, coin) => sum + coin.value, 0n) - fee
    const fields: TransactionFields = {
      version: 0,
      payloadVersion: 0,
      payload: { type: 2 },
      attributes: [],
      inputs: coins.map(({ txid, index }) => ({ txid, index, sequence: finalSequence })),
      outputs: [this.output(value)],
      lockTime: 0,
      programs: [],
      ...changes,
    }
    if (changes.programs !== undefined) return new Transaction(fields)
    const { unsigned } = new Transaction(fields)
    return new Transaction({ ...fields, programs: [standardProgram(this.owner.publicKey, this.owner.sign(unsigned))] })
  }

  carry(operation: DidOperation): Transaction {
    return this.transaction(this.take(), { payload: { type: 10, operation } })
  }

  /** The same transaction with a signature that does not verify. */
  forged(transaction: Transaction): Transaction {
    const programs = transaction.programs.map(({ code, parameter }) => {
      const other = Uint8Array.from(parameter)
      other[20] = (other[20] as number) ^ 1
      return { code, parameter: other }
    })
    return new Transaction({ ...fieldsOf(transaction), programs })
  }

  /** Makes `count` coins of one owner, or of many in turn, in blocks of their own. */
  async fan(count: number, to: readonly Uint8Array[] = [this.ownerHash], value = 1000n): Promise<Coin[]> {
    const made: Coin[] = []
    while (made.length < count) {
      const some = Math.min(count - made.length, 60_000)
      const needed = value * BigInt(some) + fee
      const coins = this.take(Number(needed / genesisValue) + 1)
      const change = coins.reduce((sum, coin) => sum + coin.value, 0n) - needed
      const outputs = Array.from({ length: some }, (_, i) => this.output(value, to[(made.length + i) % to.length]))
      const tx = this.transaction(coins, { outputs: [...outputs, this.output(change)] })
      await this.mine([tx])
      for (let index = 0; index < some; index++) made.push({ txid: tx.hash, index, value })
      this.coins.push({ txid: tx.hash, index: some, value: change })
    }
    return made
  }

  async block(transactions: readonly Transaction[]): Promise<Uint8Array> {
    return (await mineBlock(this.chain, this.parent, transactions)).bytes
  }

  async mine(transactions: readonly Transaction[]): Promise<void> {
    const block = await mineBlock(this.chain, this.parent, transactions)
    await this.chain.acceptBlock(block.bytes)
    this.parent = block.header
  }

  /** Mines transactions in as many blocks as they need. */
  async mineAll(transactions: readonly Transaction[]): Promise<void> {
    let part: Transaction[] = []
    let bytes = 0
    for (const tx of transactions) {
      if (part.length === 9000 || bytes + tx.bytes.length > 7_900_000) {
        await this.mine(part)
        part = []
        bytes = 0
      }
      part.push(tx)
      bytes += tx.bytes.length
    }
    if (part.length > 0) await this.mine(part)
  }

  holder(changes: Partial<DocumentPlan> = {}): Holder {
    const signer = quickSigner()
    const did = `did:ledger:${addressOfDid(signer.publicKey)}`
    const key: PlannedKey = { fragment: 'primary', publicKey: signer.publicKey, use: 'authentication' }
    const plan = {
      method: 'ledger',
      did,
      keys: [key, ...(changes.keys ?? [])],
      expires: '2035-01-01T00:00:00Z',
      created: '2026-01-01T00:00:00Z',
    }
    return { did, signer, plan: { ...changes, ...plan } }
  }

  create({ plan, signer }: Holder): DidOperation {
    const sign = (text: string) => signer.sign(Buffer.from(text))
    const by = { specification, verificationMethod: '#primary', form: 'compact' as const }
    return buildCreate(buildDocument(plan, sign), by, sign)
  }
}

export const operationPlan = { specification, verificationMethod: '#primary', form: 'compact' as const }

/** A credential of an issuer for a subject, signed. */
export function credential(
  issuer: Holder,
  subject: string,
  id: string,
  { type = ['T'], claims = {} }: { readonly type?: readonly string[]; readonly claims?: object } = {},
): object {
  const members = {
    id,
    type,
    issuer: issuer.did,
    issuanceDate: '2026-01-01T00:00:00Z',
    credentialSubject: { id: subject, ...claims },
  }
  const proof = { verificationMethod: '#primary', signature: encodeBase64url(new Uint8Array(64)) }
  const { signingText } = parseCredential(
    fromPlain({ ...members, proof }),
    '',
    { method: 'ledger', chain: true },
    undefined,
  )
  const signature = encodeBase64url(issuer.signer.sign(Buffer.from(signingText)))
  return { ...members, proof: { ...proof, signature } }
}

export function standardHash(publicKey: Uint8Array): Uint8Array {
  return programHash(prefix.standard, singleKeyCode(publicKey))
}

function addressOfDid(publicKey: Uint8Array): string {
  return addressOf(programHash(prefix.did, singleKeyCode(publicKey, 0xad)))
}

export function fieldsOf(fields: TransactionFields): TransactionFields {
  const { version, payloadVersion, payload, attributes, inputs, outputs, lockTime, programs } = fields
  return { version, payloadVersion, payload, attributes, inputs, outputs, lockTime, programs }
}
