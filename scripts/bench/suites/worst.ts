import { Mempool } from '../../../src/ledger/mempool/mempool.js'
import { createVerifierPool } from '../../../src/base/crypto/verifier-pool.js'
import { collectGarbage } from '../../../test/support/assert/heap-probe.js'
import { signatureLoad } from '../../../test/support/builders/signatures.js'
import { type Cost, costOf, type Work } from '../measure.js'
import { type Row, row } from '../report.js'
import { mineBlock, quiet, withWorkshop, type Workshop } from '../workshop.js'
import { blockCases, transactionCases } from '../worst-cases.js'

/** Milliseconds of processor time, on a machine that verifies one signature by a known key in {@link verification}. */
const bars = { block: 5000, unsigned: 25, transaction: 100, turn: 10 }
const verification = 0.048

/**
 * The most expensive blocks and transactions of every kind: processor time of all threads, and of this thread in its longest turn
 * of the event loop, from bytes to the result. Each is a share of its bar, which grows with this machine's time for a
 * verification. The variable WORST selects cases by a regular expression.
 */
export async function suite(): Promise<Row[]> {
  const wanted = new RegExp(process.env['WORST'] ?? '')
  const each = await verificationTime()
  const rows: Row[] = [row('a verification by a known key', each * 1000, 'µs')]
  const report = (name: string, bar: number, { total, longest }: Cost) => {
    const share = (what: string, value: number, ofBar: number) => {
      const ratio = [value / (ofBar * (each / verification)), 'its bar'] as const
      rows.push(row(what, value, 'ms', { ratio, most: 1 }))
    }
    share(name, total, bar)
    share('  its longest turn', longest, bars.turn)
    console.error(`  ${name}: ${Math.round(total)} ms, longest turn ${longest.toFixed(1)} ms`)
  }
  // Compile first: a freshly started node is no attack.
  await inWorkshop(async (shop) => {
    for (let i = 0; i < 3; i++) await shop.fan(20_000)
  })
  for (const [name, make, code] of blockCases.filter(([one]) => wanted.test(one))) {
    await inWorkshop(async (shop) => {
      const { bytes } = await mineBlock(shop.chain, await make(shop))
      report(`block: ${name}`, bars.block, await measured(code, () => shop.chain.acceptBlock(bytes)))
    })
  }
  for (const [name, make, code] of transactionCases.filter(([one]) => wanted.test(one))) {
    await inWorkshop(async (shop, pool) => {
      const made = await make(shop)
      const accept = (bytes: Uint8Array) => () => pool.accept(bytes, { local: false })
      if (code === undefined) {
        const refused = await measured('tx-signature', accept(shop.forged(made).bytes))
        report(`transaction, forged: ${name}`, bars.unsigned, refused)
      }
      report(`transaction: ${name}`, bars.transaction, await measured(code, accept(made.bytes)))
    })
  }
  return rows
}

/** Milliseconds of processor time of one verification by a cached key. */
async function verificationTime(): Promise<number> {
  const verifier = createVerifierPool()
  const checks = signatureLoad(2000, 1000)
  try {
    await verifier.verifyAll(checks)
    const costs: number[] = []
    for (let i = 0; i < 5; i++) costs.push((await costOf(() => verifier.verifyAll(checks))).total)
    return Math.min(...costs) / checks.length
  } finally {
    await verifier.close()
  }
}

/** {@link costOf} without the garbage collection of earlier objects, for work that is refused with a code, or accepted. */
async function measured(code: string | undefined, run: Work): Promise<Cost> {
  collectGarbage()
  const cost = await costOf(run)
  if (cost.code !== code) throw new Error(`${String(cost.code)} instead of ${String(code)}`)
  return cost
}

function inWorkshop(run: (shop: Workshop, pool: Mempool) => Promise<void>): Promise<void> {
  return withWorkshop(async (shop, beside) => {
    const pool = await Mempool.open({ chain: shop.chain, ...beside, clock: Date, log: quiet })
    // A node starts its threads once.
    await beside.verifier.verifyAll(signatureLoad(200, 200))
    await run(shop, pool)
    await pool.close()
  })
}
