import type { Row } from './report.js'
import { quickSigner } from '../../test/support/signatures.js'
import { createVerifierPool, Mempool, SignatureCache } from './dist.js'
import { quiet, withChain } from './load.js'
import { costOf } from './turn-probe.js'
import { blockCases, transactionCases } from './worst-cases.js'
import { Workshop } from './workshop.js'

/** Milliseconds of processor time. */
const bars = { block: 5000, unsigned: 25, transaction: 100, turn: 10 }

/**
 * The dearest blocks and transactions of every kind: processor time of all threads, and of this thread in its longest turn
 * of the event loop, from bytes to the answer. A variable WORST names the cases to run, as a regular expression.
 */
export async function worstSuite(): Promise<Row[]> {
  const wanted = new RegExp(process.env['WORST'] ?? '')
  const rows: Row[] = []
  // Machine code first: a node that was just started is no attack.
  await inWorkshop(async (shop) => {
    for (let i = 0; i < 3; i++) await shop.fan(20_000)
  })
  for (const [name, make] of Object.entries(blockCases)) {
    if (!wanted.test(name)) continue
    await inWorkshop(async (shop) => {
      const { bytes, code } = await make(shop)
      const cost = await costOf(() => shop.chain.acceptBlock(bytes))
      expect(name, code, cost.code)
      report(rows, `block: ${name}`, bars.block, cost)
    })
  }
  for (const [name, make] of Object.entries(transactionCases)) {
    if (!wanted.test(name)) continue
    await inWorkshop(async (shop, pool) => {
      const { bytes, forged, code } = await make(shop)
      if (forged !== undefined) {
        const refused = await costOf(() => pool.accept(forged, { local: false }))
        expect(name, 'tx-signature', refused.code)
        report(rows, `transaction, forged: ${name}`, bars.unsigned, refused)
      }
      const cost = await costOf(() => pool.accept(bytes, { local: false }))
      expect(name, code, cost.code)
      report(rows, `transaction: ${name}`, bars.transaction, cost)
    })
  }
  return rows
}

function report(rows: Row[], name: string, most: number, { total, longest }: { total: number; longest: number }): void {
  rows.push({ name, value: total, unit: 'ms', target: { most } })
  rows.push({ name: '  its longest turn', value: longest, unit: 'ms', target: { most: bars.turn } })
  console.error(`  ${name}: ${Math.round(total)} ms, longest turn ${longest.toFixed(1)} ms`)
}

function expect(name: string, wanted: string | undefined, found: string | undefined): void {
  if (wanted !== found) throw new Error(`${name}: ${String(found)} instead of ${String(wanted)}`)
}

async function inWorkshop(run: (shop: Workshop, pool: Mempool) => Promise<void>): Promise<void> {
  const owner = quickSigner()
  const verifier = createVerifierPool()
  const signatures = new SignatureCache()
  try {
    await withChain(Workshop.spec(owner), { verifier, signatures }, async (chain) => {
      const pool = await Mempool.open({ chain, verifier, signatures, clock: Date, log: quiet })
      await run(new Workshop(chain, owner), pool)
      await pool.close()
    })
  } finally {
    await verifier.close()
  }
}
