import type { Verifier } from '../../src/base/crypto/verifier.js'
import { verify } from '../../src/base/crypto/verify.js'
import { mapKey } from '../../src/base/primitives/bytes.js'
import { sha256 } from '../../src/base/primitives/hash.js'
import type { SignatureCheck } from '../../src/base/primitives/signature.js'

/** Answers kept before all are forgotten. */
const remembered = 200_000
const answers = new Map<string, boolean>()

/** Whether a signature holds, found out once for all nodes of a process. */
function holdsOnce(key: Uint8Array, message: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean {
  const id = mapKey(key) + mapKey(digest) + mapKey(signature)
  const known = answers.get(id)
  if (known !== undefined) return known
  if (answers.size >= remembered) answers.clear()
  const answer = verify(key, message, signature)
  answers.set(id, answer)
  return answer
}

function checkHolds({ message, keys, signatures }: SignatureCheck): boolean {
  const digest = sha256(message)
  const unused = [...keys]
  for (const signature of signatures) {
    const index = unused.findIndex((key) => holdsOnce(key, message, digest, signature))
    if (index < 0) return false
    unused.splice(index, 1)
  }
  return signatures.length > 0
}

/** A verifier that answers when `later` lets it. */
export function simulatedVerifier(later: <T>(value: T) => Promise<T>): Verifier {
  return {
    verifyAll: (checks) => later(checks.findIndex((check) => !checkHolds(check))),
    close: () => Promise.resolve(),
  }
}
