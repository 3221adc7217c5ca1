import { ask, askAll } from '../ask/node-rpc.js'
import { Refusal } from '../ask/refusal.js'
import type { ShownTransaction } from '../ask/shapes.js'
import { useAnswer } from '../ask/use-answer.js'
import { Answered, Facts, Panel, Table } from '../parts/panel.js'
import { type Figures, sumOf } from '../text/metrics-text.js'
import { bytes, unitsOf, whole } from '../text/numbers.js'
import { feeOf, spentOutputs } from './spent-outputs.js'

/** Transactions that wait, in bands of the fee that they pay for a byte. */

/** Transactions whose fees are computed: fees follow from inputs, which are asked for one by one. */
const most = 50
/** Ids of a pool that are asked for at all. */
const mostIds = 20_000

/** Units of 10^-8 for a byte, from which a band begins. */
const bands = [0, 1, 2, 5, 10, 20, 50, 100, 500] as const

interface Band {
  readonly from: number
  readonly count: number
  readonly size: number
}

interface Pool {
  readonly waiting: number
  readonly looked: number
  readonly bands: readonly Band[]
}

async function pool(signal: AbortSignal): Promise<Pool> {
  const { pooledtx } = await ask<{ pooledtx: number }>('getmininginfo', {}, signal)
  if (pooledtx === 0 || pooledtx > mostIds) return { waiting: pooledtx, looked: 0, bands: [] }
  const ids = (await ask<string[]>('getrawmempool', {}, signal)).slice(0, most)
  const calls = ids.map((txid) => ['getrawtransaction', { txid, verbose: true }] as const)
  const answers = await askAll<ShownTransaction>(calls, signal)
  const found = answers.flatMap((one) => (one instanceof Refusal ? [] : [one]))
  const rates = await Promise.all(found.map((one) => rateOf(one, signal)))
  const rows = bands.map((from, index) => {
    const inside = found.filter((_, at) => {
      const rate = rates[at] ?? -1
      return rate >= from && rate < (bands[index + 1] ?? Infinity)
    })
    return { from, count: inside.length, size: inside.reduce((sum, { size }) => sum + size, 0) }
  })
  return { waiting: pooledtx, looked: found.length, bands: rows.filter(({ count }) => count > 0).reverse() }
}

/** Units for a byte; undefined where an input is not known. */
async function rateOf(transaction: ShownTransaction, signal: AbortSignal): Promise<number | undefined> {
  const fee = feeOf(transaction, await spentOutputs(transaction, signal))
  return fee === undefined ? undefined : Number(unitsOf(fee)) / transaction.size
}

export function PoolPanel({ figures }: { figures: Figures | undefined }) {
  const answer = useAnswer(pool, ['pool'], { seconds: 5 })
  const size = figures === undefined ? undefined : sumOf(figures, 'didledger_pool_bytes')
  return (
    <Panel title="Pool">
      <Answered answer={answer}>
        {({ waiting, looked, bands: rows }) => (
          <>
            <Facts
              rows={[
                ['Waiting', `${whole(waiting)} transactions`],
                ['Size', size === undefined ? undefined : bytes(size)],
              ]}
            />
            {rows.length > 0 && (
              <Table
                caption="waiting transactions by fee"
                rows={rows}
                keyOf={({ from }) => from}
                columns={[
                  ['Fee of a byte', ({ from }) => `from ${from} × 10⁻⁸`],
                  ['Transactions', ({ count }) => whole(count), 'number'],
                  ['Size', ({ size: sum }) => bytes(sum), 'number'],
                  ['', ({ count }) => <meter min={0} max={looked} value={count} aria-hidden="true" />],
                ]}
              />
            )}
            {looked > 0 && looked < waiting && <p class="quiet">The {looked} that wait longest.</p>}
          </>
        )}
      </Answered>
    </Panel>
  )
}
