import { quickSigner, signatureLoad } from '../../test/support/builders/signatures.js'
import { collect } from './collect.js'
import { createVerifierPool, Mempool, SignatureCache } from './dist.js'
import { quiet, withChain } from './load.js'
import type { Row } from './report.js'
import { type Cost, costOf } from './turn-probe.js'
import { Workshop } from './workshop.js'
import { blockCases, transactionCases } from './worst-cases.js'

/** Milliseconds of processor time, on a machine that verifies one signature by a known key in {@link verification}. */
const bars = { block: 5000, unsigned: 25, transaction: 100, turn: 10 }
const verification = 0.048

/**
 * The most expensive blocks and transactions of every kind: processor time of all threads, and of this thread in its longest turn
 * of the event loop, from bytes to the result. Each is a share of its bar, which grows with this machine's time for a
 * verification. The variable WORST selects cases by a regular expression.
 */
export async function worstSuite(): Promise<Row[]> {
  const wanted = new RegExp(process.env['WORST'] ?? '')
  const each = await verificationTime()
  const rows: Row[] = [{ name: 'a verification by a known key', value: each * 1000, unit: 'µs' }]
  const report = (name: string, bar: number, { total, longest }: Cost) => {
    const share = (value: number, ofBar: number) => {
      return {
        value,
        unit: 'ms',
        ratio: { value: value / (ofBar * (each / verification)), against: 'its bar' },
        target: { most: 1 },
      }
    }
    rows.push({ name, ...share(total, bar) }, { name: '  its longest turn', ...share(longest, bars.turn) })
    console.error(`  ${name}: ${Math.round(total)} ms, longest turn ${longest.toFixed(1)} ms`)
  }
  // Compile first: a freshly started node is no attack.
  await inWorkshop(async (shop) => {
    for (let i = 0; i < 3; i++) await shop.fan(20_000)
  })
  for (const [name, make] of Object.entries(blockCases)) {
    if (!wanted.test(name)) continue
    await inWorkshop(async (shop) => {
      const { bytes, code } = await make(shop)
      const cost = await measured(() => shop.chain.acceptBlock(bytes))
      expect(name, code, cost.code)
      report(`block: ${name}`, bars.block, cost)
    })
  }
  for (const [name, make] of Object.entries(transactionCases)) {
    if (!wanted.test(name)) continue
    await inWorkshop(async (shop, pool) => {
      const { bytes, forged, code } = await make(shop)
      if (forged !== undefined) {
        const refused = await measured(() => pool.accept(forged, { local: false }))
        expect(name, 'tx-signature', refused.code)
        report(`transaction, forged: ${name}`, bars.unsigned, refused)
      }
      const cost = await measured(() => pool.accept(bytes, { local: false }))
      expect(name, code, cost.code)
      report(`transaction: ${name}`, bars.transaction, cost)
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

function expect(name: string, wanted: string | undefined, found: string | undefined): void {
  if (wanted !== found) throw new Error(`${name}: ${String(found)} instead of ${String(wanted)}`)
}

/** {@link costOf} without the garbage collection of earlier objects. */
async function measured(run: () => Promise<unknown>): Promise<Cost> {
  collect()
  return costOf(run)
}

async function inWorkshop(run: (shop: Workshop, pool: Mempool) => Promise<void>): Promise<void> {
  const owner = quickSigner()
  const verifier = createVerifierPool()
  const signatures = new SignatureCache()
  try {
    await withChain(Workshop.spec(owner), { verifier, signatures }, async (chain) => {
      const pool = await Mempool.open({ chain, verifier, signatures, clock: Date, log: quiet })
      // A node starts its threads once.
      await verifier.verifyAll(signatureLoad(200, 200))
      await run(new Workshop(chain, owner), pool)
      await pool.close()
    })
  } finally {
    await verifier.close()
  }
}
