import { SignatureCache } from '../../src/base/crypto/signature-cache.js'
import type { SignatureCheck } from '../../src/base/primitives/signature.js'

/** A signature cache whose contents can be replaced, and that shows what it is asked for. It keeps nothing that it verified. */
export class ChangingCache extends SignatureCache {
  current = new SignatureCache()
  /** Checks that were looked up since this was last emptied, if they are wanted. */
  seen: SignatureCheck[] | undefined

  override unknown(checks: readonly SignatureCheck[]): readonly SignatureCheck[] {
    this.seen?.push(...checks)
    return this.current.unknown(checks)
  }
}
