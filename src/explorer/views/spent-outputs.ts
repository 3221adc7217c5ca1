import { askAll } from '../ask/node-rpc.js'
import { Refusal } from '../ask/refusal.js'
import type { Output, ShownTransaction } from '../ask/shapes.js'
import { coinsOf, unitsOf } from '../text/numbers.js'

/** Most inputs of a transaction whose outputs are looked up. */
const lookedUp = 100

/** An input, with the output that it spends where that is known. */
export interface SpentOutput {
  readonly txid: string
  readonly vout: number
  readonly output?: Output
}

export function isCoinbase({ type }: ShownTransaction): boolean {
  return type === 0
}

/** The first inputs of a transaction with what they spend, each transaction asked for once. */
export async function spentOutputs(transaction: ShownTransaction, signal: AbortSignal): Promise<SpentOutput[]> {
  if (isCoinbase(transaction)) return []
  const inputs = transaction.vin.slice(0, lookedUp)
  const ids = [...new Set(inputs.map(({ txid }) => txid))]
  const found = await askAll<ShownTransaction>(
    ids.map((txid) => ['getrawtransaction', { txid, verbose: true }]),
    signal,
  )
  const byId = new Map(found.flatMap((one) => (one instanceof Refusal ? [] : [[one.txid, one] as const])))
  return inputs.map(({ txid, vout }) => {
    const output = byId.get(txid)?.vout[vout]
    return { txid, vout, ...(output === undefined ? {} : { output }) }
  })
}

/** Inputs less outputs; undefined where not all inputs are known. */
export function feeOf({ type, vin, vout }: ShownTransaction, inputs: readonly SpentOutput[]): string | undefined {
  if (type === 0 || vin.length !== inputs.length) return undefined
  const units = inputs.map(({ output }) => (output === undefined ? undefined : unitsOf(output.value)))
  if (units.some((one) => one === undefined)) return undefined
  const paid = units.reduce<bigint>((sum, one) => sum + (one ?? 0n), 0n)
  return coinsOf(paid - vout.reduce((sum, { value }) => sum + (unitsOf(value) ?? 0n), 0n))
}
