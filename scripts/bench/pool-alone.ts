/** A process that only verifies: sends the checks a second of calls of 1000, the ceiling of connecting blocks. */
import { createVerifierPool } from '../../src/base/crypto/verifier-pool.js'
import { checkOf, quickSigner } from '../../test/support/builders/signatures.js'
import { medianTime } from './measure.js'

const calls = 1000
// As long as what a transfer signs.
const checks = Array.from({ length: calls }, (_, i) => {
  const [message, { publicKey, sign }] = [Buffer.alloc(184, i), quickSigner()]
  return checkOf(message, [publicKey], [sign(message)])
})
const verifier = createVerifierPool()
const time = await medianTime({ warmUp: 6, measured: 24 }, () => verifier.verifyAll(checks))
await verifier.close()
process.send?.(calls / (time / 1000))
process.disconnect()
