import { isByKeyOf } from '../../../src/base/crypto/key-of-did.js'
import { verify } from '../../../src/base/crypto/verify.js'
import type { Checking } from '../../../src/identity/proofs/signature-checks.js'

/** The result of a check, its signatures verified. */
export function settle<T>(steps: Checking<T>): T {
  for (let step = steps.next(); ;) {
    if (step.done === true) return step.value
    const holds = step.value.every(({ key, message, signature }) =>
      typeof key === 'string' ? isByKeyOf(key, message, signature) : verify(key, message, signature),
    )
    step = steps.next(holds)
  }
}
