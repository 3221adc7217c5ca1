/** A process that only verifies: prints the checks a second of calls of 1000, the ceiling of connecting blocks. */
import { createVerifierPool } from './dist.js'
import { quickSigner } from '../../test/support/builders/signatures.js'
import { median } from './report.js'

const calls = 1000
const rounds = 24
const warmUp = 6

const signers = Array.from({ length: calls }, quickSigner)
const checks = signers.map(({ publicKey, sign }, i) => {
  // As long as what a transfer signs.
  const message = Buffer.alloc(184, i)
  return { message, keys: [publicKey], signatures: [sign(message)], code: 'tx-signature' as const, subject: '' }
})
const verifier = createVerifierPool()
const rates: number[] = []
for (let round = 0; round < warmUp + rounds; round++) {
  const start = performance.now()
  await verifier.verifyAll(checks)
  if (round >= warmUp) rates.push(calls / ((performance.now() - start) / 1000))
}
await verifier.close()
console.log(`rate ${Math.round(median(rates))}`)
