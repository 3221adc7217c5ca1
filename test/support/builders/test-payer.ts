import { setTimeout as sleep } from 'node:timers/promises'
import { loadSpec } from '../../../src/program/cli/load-spec.js'
import { NodeRefusal } from '../../../src/clients/client/http.js'
import type { NodeClient } from '../../../src/clients/client/node-client.js'
import { formatDate } from '../../../src/identity/did/date.js'
import { UserError } from '../../../src/base/errors/rule-error.js'
import { parseAddress, type ProgramHash, singleKeyCode } from '../../../src/base/primitives/address.js'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import { registerAssetTransaction } from '../../../src/base/primitives/genesis.js'
import { paramsAt, type Spec } from '../../../src/base/primitives/spec.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import type { SigningAccount } from '../../../src/clients/wallet/accounts.js'
import { buildDidTransaction, buildTransfer, type Payment } from '../../../src/clients/wallet/build-transaction.js'
import type { SpendableCoin } from '../../../src/clients/wallet/coins.js'
import { devnetAccount } from '../../../src/clients/wallet/devnet-accounts.js'
import { createIdentity, documentOf, parseDid, updateIdentity } from '../../../src/clients/wallet/did-identity.js'
import { signTransaction } from '../../../src/clients/wallet/sign-transaction.js'
import { SeededRandom } from './seeded-random.js'

export { SeededRandom }

/** A wallet of a test: builds and signs what the shipped accounts pay. */
export class Payer {
  readonly spec: Spec
  readonly assetId: Uint8Array
  readonly #random: SeededRandom

  constructor(random: SeededRandom, genesis = 'devnet') {
    this.spec = loadSpec(genesis)
    this.assetId = registerAssetTransaction(this.spec).hash
    this.#random = random
  }

  /** A signed transfer of account `from`, paid with the given coins or with those the node lists. */
  async transfer(
    client: NodeClient,
    from: number,
    to: string,
    value: bigint,
    coins?: SpendableCoin[],
  ): Promise<Transaction> {
    const account = devnetAccount(from)
    const usable = coins ?? (await client.coins(account.address, this.assetId))
    const unsigned = buildTransfer(this.#payment(account, usable), [{ programHash: hashOf(to), value }])
    return signTransaction(unsigned.transaction, [account.privateKey]).transaction
  }

  /** One transaction that leaves an account with `count` coins of one value. */
  async split(client: NodeClient, from: number, count: number, value: bigint): Promise<Transaction> {
    const account = devnetAccount(from)
    const payment = this.#payment(account, await client.coins(account.address, this.assetId))
    const recipients = Array.from({ length: count }, () => ({ programHash: hashOf(account.address), value }))
    return signTransaction(buildTransfer(payment, recipients).transaction, [account.privateKey]).transaction
  }

  /** A signed transaction that registers the DID of `owner` or, after the operation `previous`, renews it. */
  identity(from: number, owner: number, coins: SpendableCoin[], previous: Previous | undefined): Transaction {
    const account = devnetAccount(from)
    const subject = devnetAccount(owner)
    const specification = paramsAt(this.spec, 1).specifications.did[0] as string
    const created = formatDate(this.spec.time)
    const context = { account: subject, specification, created }
    const expires = formatDate(this.spec.time + 10 * 365 * 86_400 + (previous?.count ?? 0))
    const nothing = { addServices: [], removeServices: [], addCredentials: [], removeCredentials: [] }
    const operation =
      previous === undefined
        ? createIdentity(context, { services: [], expires })
        : updateIdentity(
            context,
            { document: documentOf(previous.payload), txid: previous.txid },
            { ...nothing, expires },
          )
    const did = (parseDid(subject.did) as { programHash: ProgramHash }).programHash
    const unsigned = buildDidTransaction(this.#payment(account, coins), operation, did)
    return signTransaction(unsigned.transaction, [account.privateKey]).transaction
  }

  #payment(account: SigningAccount, coins: readonly SpendableCoin[]): Payment {
    return {
      code: singleKeyCode(account.publicKey),
      coins,
      fee: paramsAt(this.spec, 1).fees,
      assetId: this.assetId,
      maxMoney: this.spec.maxMoney,
      random: this.#random,
    }
  }
}

/** The last operation of a DID. */
interface Previous {
  readonly txid: string
  readonly payload: string
  readonly count: number
}

/** One coin that is spent again and again, and a DID that it pays for. */
interface Slot {
  readonly owner: number
  coin: SpendableCoin
  /** Transactions since the last block. */
  depth: number
  did: Previous | undefined
  /** Transaction in flight when the node died: it may have taken it or not. */
  unsure: Transaction | undefined
}

/** DIDs of the load belong to accounts from here on. */
const firstOwner = 1000
const account = 0

/** Somebody who sends transfers and DID operations without pause and remembers what the node acknowledged. */
export class Load {
  /** Every txid the node answered with. */
  readonly acknowledged = new Set<string>()
  /** Those acknowledged since the last block. */
  pending = 0
  readonly #payer: Payer
  readonly #random: SeededRandom
  #slots: Slot[] = []

  constructor(random: SeededRandom) {
    this.#payer = new Payer(random)
    this.#random = random
  }

  /** Gives the load its coins; the node mines one block for it. */
  async prepare(client: NodeClient, count: number): Promise<void> {
    const value = 100_000_000n
    const funding = await this.#payer.split(client, account, count, value)
    await client.sendRawTransaction(funding.toHex())
    await client.rpc('dev_mine', { blocks: 1 })
    this.#slots = Array.from({ length: count }, (_, index) => ({
      owner: firstOwner + index,
      coin: { txid: funding.hash, index, value },
      depth: 0,
      did: undefined,
      unsure: undefined,
    }))
  }

  /** DIDs that have an operation the node acknowledged. */
  get dids(): string[] {
    return this.#slots.filter(({ did }) => did !== undefined).map(({ owner }) => devnetAccount(owner).did)
  }

  /** Sends transactions, some at a time, until told to stop or the node is gone. */
  async send(client: NodeClient, until: () => boolean): Promise<void> {
    const free = [...this.#slots]
    const worker = async () => {
      while (!until()) {
        const slot = free.splice(this.#random.below(free.length), 1)[0]
        if (slot === undefined) return
        const alive = await this.#sendOne(client, slot)
        free.push(slot)
        if (!alive) return
      }
    }
    await Promise.all(Array.from({ length: 8 }, worker))
  }

  /** Makes a block; everything acknowledged so far is in it. */
  async mine(client: NodeClient): Promise<string> {
    const before = this.pending
    const depths = this.#slots.map(({ depth }) => depth)
    const [hash] = (await client.rpc('dev_mine', { blocks: 1 })) as [string]
    this.pending -= before
    this.#slots.forEach((slot, i) => (slot.depth -= depths[i] as number))
    return hash
  }

  /** After a restart: finds out what became of what was under way. */
  async settle(client: NodeClient): Promise<void> {
    for (const slot of this.#slots) {
      const { unsure } = slot
      slot.unsure = undefined
      if (unsure !== undefined && (await client.transaction(unsure.txid)) !== undefined) this.#taken(slot, unsure)
    }
  }

  /** False when the node is gone. */
  async #sendOne(client: NodeClient, slot: Slot): Promise<boolean> {
    // The pool takes chains of 25 and eight operations of a DID.
    if (slot.depth >= 7) {
      await sleep(5)
      return true
    }
    const transaction = await this.#next(client, slot)
    slot.unsure = transaction
    try {
      await client.sendRawTransaction(transaction.toHex())
    } catch (error) {
      if (error instanceof UserError && !(error instanceof NodeRefusal)) return false
      throw error
    }
    slot.unsure = undefined
    this.#taken(slot, transaction)
    this.acknowledged.add(transaction.txid)
    this.pending++
    return true
  }

  async #next(client: NodeClient, slot: Slot): Promise<Transaction> {
    if (this.#random.below(4) === 0) return this.#payer.identity(account, slot.owner, [slot.coin], slot.did)
    const value = slot.coin.value - 100_000n
    return this.#payer.transfer(client, account, devnetAccount(account).address, value, [slot.coin])
  }

  #taken(slot: Slot, { hash, outputs, payload }: Transaction): void {
    // The coin goes on in the output that has a value; of two, the larger.
    const index = outputs.reduce((best, { value }, i) => (value > (outputs[best]?.value ?? 0n) ? i : best), 0)
    slot.coin = { txid: hash, index, value: outputs[index]?.value ?? 0n }
    slot.depth++
    if (payload.type === 10) {
      const count = (slot.did?.count ?? 0) + 1
      slot.did = { txid: displayHash(hash), payload: payload.operation.payload, count }
    }
  }
}

function hashOf(address: string): ProgramHash {
  return parseAddress(address) as ProgramHash
}
