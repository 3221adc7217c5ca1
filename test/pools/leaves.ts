import { RuleError } from '../../src/base/errors/rule-error.js'
import { singleKeyCode } from '../../src/base/primitives/address.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import type { Hash } from '../../src/base/primitives/hash.js'
import { paramsAt } from '../../src/base/primitives/spec.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { didKey } from '../../src/ledger/storage/rows/did-reader.js'
import { buildDidTransaction } from '../../src/clients/wallet/build-transaction.js'
import { signTransaction } from '../../src/clients/wallet/sign-transaction.js'
import { craft, genesisCoin, outputOf } from '../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../support/builders/chain.js'
import { type Holder, holder } from '../support/builders/did.js'
import { seededRandom } from '../support/builders/seeded-bytes.js'
import { testKey, testPublicKey } from '../support/builders/spec.js'

/** Fills the map of committed state, as cheaply as a node allows, with revokes of credentials that are not declared. */

export interface LeafAttack {
  /** DIDs that revoke; a pool holds eight operations of each. */
  readonly dids: number
  readonly blocks: number
}

export const wholeLeafAttack: LeafAttack = { dids: 250, blocks: 4 }

/** Revokes of one DID in one block. */
const pending = 8
const coinValue = 5_000n
/** Outputs of a transaction that stays within the size that pools take. */
const coinsAtOnce = 2_500
const payer = 10
/** Text of a service: a document with it has 1.4 kB, as in the table of docs/operate.md. */
const text = 'Where somebody works, what they like, and how they are reached. '.repeat(6)

/** Cost of the leaves of a kind. */
class Bill {
  count = 0
  paid = 0n

  add(fee: bigint): void {
    this.count++
    this.paid += fee
  }

  /** Cost of one leaf, rounded down. */
  get each(): bigint {
    return this.count === 0 ? 0n : this.paid / BigInt(this.count)
  }
}

/** Carries the attack out on a chain with the fees of the shipped ones, or with none for bytes; returns the promises that it breaks. */
export async function leafAttack({ dids, blocks }: LeafAttack, fees: object): Promise<string[]> {
  const test = await TestChain.open({ ...withoutValidators, fees })
  const coins = await splitCoins(test, dids * (1 + pending * blocks))
  const [creates, revokes] = [new Bill(), new Bill()]
  const broken: string[] = []
  const attackers = Array.from({ length: dids }, () => holder())
  const services = [{ id: '#profile', type: 'Profile', serviceEndpoint: text }]
  for (const attacker of attackers) {
    const tx = carried(test, nextCoin(coins), attacker.create({ services }), attacker)
    await test.send(tx)
    creates.add(feeOf(tx))
  }
  await test.mine()
  for (let block = 0; block < blocks; block++) {
    for (const [attacker, id] of victims(attackers, block)) {
      const coin = nextCoin(coins)
      const operation = attacker.revoke(id)
      const tx = carried(test, coin, operation, attacker)
      if (await isTaken(test, carried(test, coin, operation, attacker, feeOf(tx) - 1n))) broken.push(`${id} for less`)
      else await test.send(tx)
      revokes.add(feeOf(tx))
    }
    await test.mine()
    const missing = victims(attackers, block).filter(([{ did }, id]) => !test.chain.state.credential(id, did)?.revoked)
    if (missing.length > 0) broken.push(`${missing.length} revokes of block ${block} are not in the state`)
  }
  await test.close()
  if (revokes.each < creates.each) broken.push(`a revoke costs ${revokes.each}, a DID ${creates.each}`)
  return broken
}

/** Ids of credentials of DIDs that need not exist. */
function victims(attackers: readonly Holder[], block: number): readonly (readonly [Holder, string])[] {
  return attackers.flatMap((attacker, index) =>
    Array.from({ length: pending }, (_, n) => {
      const other = attackers[(index + 1) % attackers.length] as Holder
      return [attacker, `${other.did}#${block}-${n}`] as const
    }),
  )
}

interface Coin {
  readonly txid: Hash
  readonly index: number
}

async function splitCoins({ spec, chain, mempool }: TestChain, count: number): Promise<Coin[]> {
  const coins: Coin[] = []
  let rest = { coin: genesisCoin(chain), value: 100_000_000_000n }
  while (coins.length < count) {
    const outputs = Array.from({ length: Math.min(coinsAtOnce, count - coins.length) }, () => ({
      to: payer,
      value: coinValue,
    }))
    const value = rest.value - BigInt(outputs.length) * coinValue - 1_000_000n
    const split = craft(spec, [rest.coin], [...outputs, { to: payer, value }], [payer])
    await mempool.accept(split.bytes, { local: false })
    coins.push(...outputs.map((_, index) => ({ txid: split.hash, index })))
    rest = { coin: outputOf(split, outputs.length), value }
  }
  return coins
}

function nextCoin(coins: Coin[]): Coin {
  const coin = coins.pop()
  if (coin === undefined) throw new RangeError('too few coins')
  return coin
}

/** The transaction of an operation, with the least fee or another one. */
function carried(
  { spec, chain }: TestChain,
  coin: Coin,
  operation: DidOperation,
  { did }: Holder,
  fee?: bigint,
): Transaction {
  const payment = {
    code: singleKeyCode(testPublicKey(payer)),
    coins: [{ ...coin, value: coinValue }],
    fee: fee ?? paramsAt(spec, 1).fees,
    assetId: chain.sanity.assetId,
    maxMoney: spec.maxMoney,
    random: seededRandom(`${coin.index}`),
  }
  const { transaction } = buildDidTransaction(payment, operation, didKey(did))
  return signTransaction(transaction, [testKey(payer)]).transaction
}

function feeOf({ outputs }: Transaction): bigint {
  return outputs.reduce((rest, { value }) => rest - value, coinValue)
}

async function isTaken(test: TestChain, transaction: Transaction): Promise<boolean> {
  try {
    await test.send(transaction)
    return true
  } catch (error) {
    if (error instanceof RuleError && ['tx-fee', 'fee-too-low'].includes(error.code)) return false
    throw error
  }
}
