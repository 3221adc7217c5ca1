import { formatDate } from '../../src/identity/did/date.js'
import { type ProgramHash, parseAddress, singleKeyCode } from '../../src/base/primitives/address.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import { genesisBlock } from '../../src/base/primitives/genesis.js'
import type { Hash } from '../../src/base/primitives/hash.js'
import { paramsAt, type Spec } from '../../src/base/primitives/spec.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import type { KeyPair } from '../../src/clients/wallet/accounts.js'
import { buildDidTransaction, buildTransfer, type Payment } from '../../src/clients/wallet/build-transaction.js'
import type { SpendableCoin } from '../../src/clients/wallet/coins.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { createIdentity } from '../../src/clients/wallet/did-identity.js'
import { signTransaction } from '../../src/clients/wallet/sign-transaction.js'
import { type SpecOverrides, testAddress, testKey, testPublicKey, testSpec } from '../support/builders/spec.js'
import { Chance } from '../support/builders/chance.js'

/** What simulated nodes agree on before they begin, made once for all simulations of a process: signing is slow. */

/** Coins of the payer in the genesis block. Each begins one family of transactions, so that none spends what another does. */
const families = 12
const payer = 10
const coinValue = 10_000_000_000n
const crowdLimits = { blockSize: 8_000_000, transactionCost: 2_000, blockCost: 40_000 }
/** Accounts whose DIDs are created. */
const firstOwner = 1000

export interface Prepared {
  readonly transaction: Transaction
  /** What it spends an output of; undefined for one that spends a genesis coin. */
  readonly parent: Prepared | undefined
}

export interface Ground {
  readonly spec: Spec
  /** Hash of the genesis block. */
  readonly genesis: Hash
  /** Transfers, DID creations, and what spends their change. None is in conflict with another. */
  readonly transactions: readonly Prepared[]
  /** Transfers that are independent of each other and of all others. */
  readonly crowd: readonly Transaction[]
}

export interface GroundPlan {
  /** Numbers of the nodes that are validators. */
  readonly validators: readonly number[]
  /** From a height on others are. */
  readonly upgrade?: { readonly height: number; readonly validators: readonly number[] }
  /** Milliseconds between blocks when nothing waits. */
  readonly emptyInterval: number
  /** A chain of miners, without validators: seconds between blocks that it aims at. */
  readonly spacing?: number
  /** A pool that is full from the beginning. */
  readonly crowd?: { readonly transactions: number; readonly inBlock: number }
}

const made = new Map<string, Ground>()

export function groundOf(plan: GroundPlan): Ground {
  const id = JSON.stringify(plan)
  const known = made.get(id) ?? makeGround(plan)
  made.set(id, known)
  return known
}

/** The key that a node validates with, when it is its turn. */
export const validatorKeys: readonly KeyPair[] = Array.from({ length: 8 }, (_, node) => ({
  privateKey: testKey(node),
  publicKey: testPublicKey(node),
}))

function makeGround({ validators, upgrade, emptyInterval, spacing, crowd }: GroundPlan): Ground {
  const keysOf = (nodes: readonly number[]) => nodes.map((node) => toHex((validatorKeys[node] as KeyPair).publicKey))
  const spec = parseSpec(
    testSpec({
      allocations: Array.from({ length: families + (crowd?.transactions ?? 0) }, () => ({
        address: testAddress(payer),
        amount: coinValue.toString(),
      })),
      validators: keysOf(validators),
      timing: { minInterval: 500, emptyInterval, maxDrift: 5_000, propose: 2_000, delta: 500 },
      maxViewTimeout: 20_000,
      maturity: 2,
      ...(spacing === undefined ? {} : minedBy(spacing, emptyInterval)),
      ...(crowd === undefined ? {} : { limits: { ...crowdLimits, blockTransactions: crowd.inBlock } }),
      upgrades:
        upgrade === undefined
          ? []
          : [{ height: upgrade.height, name: 'others', parameters: { validators: keysOf(upgrade.validators) } }],
    }),
  )
  const genesis = genesisBlock(spec)
  const coinbase = genesis.transactions[0] as Transaction
  const assetId = (genesis.transactions[1] as Transaction).hash
  const random = new Chance(1)
  const payment = (coin: SpendableCoin): Payment => ({
    code: singleKeyCode(testPublicKey(payer)),
    coins: [coin],
    fee: paramsAt(spec, 1).fees,
    assetId,
    maxMoney: spec.maxMoney,
    random,
  })
  const transactions = Array.from({ length: families }, (_, index) => {
    const coin = { txid: coinbase.hash, index, value: coinValue }
    const first = index % 3 === 0 ? creation(spec, payment(coin), index) : transfer(payment(coin))
    const parent = { transaction: first, parent: undefined }
    if (index % 2 === 1) return [parent]
    // The change is the last output.
    const change = first.outputs.length - 1
    const { value } = first.outputs[change] as (typeof first.outputs)[number]
    return [parent, { transaction: transfer(payment({ txid: first.hash, index: change, value })), parent }]
  })
  const many = Array.from({ length: crowd?.transactions ?? 0 }, (_, index) =>
    transfer(payment({ txid: coinbase.hash, index: families + index, value: coinValue })),
  )
  return { spec, genesis: genesis.header.hash, transactions: transactions.flat(), crowd: many }
}

function minedBy(spacing: number, interval: number): SpecOverrides {
  const timing = { minInterval: interval, emptyInterval: interval, maxDrift: 5_000, propose: 2_000, delta: 500 }
  return { producer: 'miners', retarget: { interval: 720, spacing }, timing }
}

function transfer(payment: Payment): Transaction {
  const recipient = { programHash: parseAddress(testAddress(11)) as ProgramHash, value: 1_000_000_000n }
  return signed(buildTransfer(payment, [recipient]).transaction)
}

/** The DID that the so manieth creation of the transactions makes: every third family begins with one. */
export function ownerOf(creation: number): string {
  return devnetAccount(firstOwner + 3 * creation).did
}

function creation(spec: Spec, payment: Payment, index: number): Transaction {
  const account = devnetAccount(firstOwner + index)
  const specification = paramsAt(spec, 1).specifications.did[0] as string
  const context = { account, specification, created: formatDate(spec.time) }
  const operation = createIdentity(context, { services: [], expires: formatDate(spec.time + 365 * 86_400) })
  return signed(buildDidTransaction(payment, operation, undefined).transaction)
}

function signed(transaction: Transaction): Transaction {
  return signTransaction(transaction, [testKey(payer)]).transaction
}
