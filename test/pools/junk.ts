import { RuleError } from '../../src/base/errors/rule-error.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { type CraftedInput, craft, genesisCoin, outputOf } from '../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../support/builders/chain.js'

/** Size of an attack. */
export interface JunkPlan {
  readonly packages: number
  /** Records of a package, all ancestors of its last transaction. */
  readonly records: number
  readonly recordBytes: number
  /** Transfers that pay 4.5 sela a byte. */
  readonly honest: number
  readonly poolSize: number
  readonly blockSize: number
}

/** Results of an attack. */
export interface JunkResult {
  /** Junk that the pool took, and that it let go for lack of room. */
  readonly taken: number
  readonly evicted: number
  /** Honest transfers, among them one that came last, for four times the floor. */
  readonly acknowledged: number
  readonly lost: readonly string[]
  /** Blocks until all honest ones were mined. */
  readonly blocks: number
  /** Blocks with junk before an honest transfer. */
  readonly junkFirst: number
}

const most = 5
const [payer, attacker] = [40, 50]
const coin = 10_000_000n

/**
 * Lets packages of long records for next to nothing, each with a short child that pays much for a byte, crowd a pool with
 * honest transfers: half of them before and half after these, as chains and as many parents of one child by turns.
 */
export async function junkAttack(plan: JunkPlan): Promise<JunkResult> {
  const limits = { blockSize: plan.blockSize, blockTransactions: 10_000, transactionCost: 100, blockCost: 20_000 }
  const test = await TestChain.open({ ...withoutValidators, limits }, { limits: { poolSize: plan.poolSize } })
  const honest = await fanOf(test, 0, payer, plan.honest + 1)
  const bad = await fanOf(test, 1, attacker, plan.packages * plan.records)
  await test.mine()
  const junk: Transaction[] = []
  const half = Math.ceil(plan.packages / 2)
  for (let i = 0; i < half; i++) junk.push(...(await junkPackage(test, plan, bad, i)))
  const acknowledged: Transaction[] = []
  for (let i = 0; i < plan.honest; i++) acknowledged.push(await transfer(test, honest, i, 4500))
  for (let i = half; i < plan.packages; i++) junk.push(...(await junkPackage(test, plan, bad, i)))
  const fourfold = Math.max(4500, 4 * test.mempool.floor)
  acknowledged.push(await transfer(test, honest, plan.honest, fourfold))
  const evicted = junk.filter(({ hash }) => test.mempool.droppedReason(hash)?.includes('sela a byte were needed'))
  const { blocks, junkFirst } = await mineAll(test, acknowledged)
  const lost = acknowledged.filter(({ hash }) => test.reader.transaction(hash) === undefined)
  const reasons = lost.map(({ hash, txid }) => `${txid}: ${test.mempool.droppedReason(hash) ?? 'waits'}`)
  await test.close()
  return {
    ...{ taken: junk.length, evicted: evicted.length, acknowledged: acknowledged.length },
    ...{ lost: reasons, blocks, junkFirst },
  }
}

/** As many coins of a person as asked, in one transaction. */
async function fanOf(test: TestChain, output: 0 | 1, to: number, count: number): Promise<Transaction> {
  const outputs = Array.from({ length: count }, () => ({ to, value: coin }))
  return test.send(craft(test.spec, [genesisCoin(test.chain, output)], outputs, [10 + output]))
}

/** Sends a transfer of a coin of the fan that pays so many sela for 1000 bytes. */
function transfer(test: TestChain, fan: Transaction, index: number, rate: number): Promise<Transaction> {
  const make = (fee: bigint) => craft(test.spec, [outputOf(fan, index)], [{ to: 41, value: coin - fee }], [payer])
  return test.send(make(BigInt(Math.ceil((make(1000n).bytes.length * rate) / 1000))))
}

/** Sends the records of a package and their child; returns what the pool took, which ends where it refuses one. */
async function junkPackage(test: TestChain, plan: JunkPlan, fan: Transaction, number: number): Promise<Transaction[]> {
  const { records, recordBytes } = plan
  const isChain = number % 2 === 0
  const taken: Transaction[] = []
  try {
    for (let i = 0; i < records; i++) {
      const own = outputOf(fan, number * records + (isChain ? 0 : i))
      const last = taken.at(-1)
      const from = isChain && last !== undefined ? last : fan
      taken.push(await record(test, from === fan ? own : outputOf(from), valueOf(from), recordBytes))
    }
    const parents = isChain ? taken.slice(-1) : taken
    const value = parents.reduce((sum, one) => sum + valueOf(one), 0n)
    const child = (fee: bigint) => {
      const inputs = parents.map((one) => outputOf(one))
      return craft(test.spec, inputs, [{ to: attacker, value: value - fee }], [attacker])
    }
    taken.push(await test.send(child(BigInt(most * child(1000n).bytes.length))))
  } catch (error) {
    if (!(error instanceof RuleError && ['pool-full', 'fee-too-low', 'tx-input-unknown'].includes(error.code)))
      throw error
  }
  return taken
}

/** Sends a record for the least that the chain asks. */
async function record(test: TestChain, input: CraftedInput, value: bigint, size: number): Promise<Transaction> {
  const payload = { type: 3, recordType: '', content: new Uint8Array(size) } as const
  const make = (fee: bigint) =>
    craft(test.spec, [input], [{ to: attacker, value: value - fee }], [attacker], { payload })
  try {
    return await test.send(make(100n))
  } catch (error) {
    // Where bytes have a price.
    if (!(error instanceof RuleError && error.code === 'tx-fee')) throw error
    return test.send(make(BigInt(make(100n).bytes.length)))
  }
}

function valueOf(transaction: Transaction): bigint {
  return transaction.outputs[0]?.value as bigint
}

/** Mines until all of these are in blocks, at most {@link most}. */
async function mineAll(
  test: TestChain,
  honest: readonly Transaction[],
): Promise<Pick<JunkResult, 'blocks' | 'junkFirst'>> {
  const ids = new Set(honest.map(({ txid }) => txid))
  let junkFirst = 0
  let blocks = 0
  while (blocks < most && honest.some(({ hash }) => test.reader.transaction(hash) === undefined)) {
    const [block] = await test.mine()
    blocks++
    const isHonest = (block?.transactions ?? []).slice(1).map(({ txid }) => ids.has(txid))
    if (isHonest.lastIndexOf(true) > isHonest.indexOf(false) && isHonest.includes(false)) junkFirst++
  }
  return { blocks, junkFirst }
}

/** The attack at its full size. Half of the packages fill the pool but for 100 kB, so that honest transfers need the room of junk. */
export const wholeAttack: JunkPlan = {
  ...{ packages: 8, records: 24, recordBytes: 198_000, honest: 1500 },
  ...{ poolSize: 19_200_000, blockSize: 8_000_000 },
}

/** The same on a pool and in blocks of a hundredth. */
export const smallAttack: JunkPlan = {
  ...{ packages: 8, records: 24, recordBytes: 1900, honest: 15 },
  ...{ poolSize: 200_000, blockSize: 80_000 },
}

/** Sentences about promises that an attack broke. */
export function brokenBy({ taken, evicted, acknowledged, lost, blocks, junkFirst }: JunkResult): string[] {
  return [
    ...lost.map((one) => `acknowledged and not mined: ${one}`),
    ...(blocks > 3 ? [`${acknowledged} honest transfers took ${blocks} blocks`] : []),
    ...(junkFirst > 0 ? [`junk came before honest transfers in ${junkFirst} blocks`] : []),
    ...(taken === 0 || evicted === 0 ? [`${taken} pieces of junk were taken and ${evicted} evicted: no attack`] : []),
  ]
}
