import type { SignatureCache } from '../../base/crypto/signature-cache.js'
import { failureOf, runChecks, type Verifier } from '../../base/crypto/verifier.js'
import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { CodecError, Reader } from '../../base/primitives/codec.js'
import { parseConfirm } from '../../base/primitives/confirm.js'
import { Header } from '../../base/primitives/header.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import type { Spec } from '../../base/primitives/spec.js'
import { cooperate } from '../../base/runtime/cooperative.js'
import { checkConfirm } from '../consensus/check-confirm.js'
import type { SanityContext } from '../consensus/rule-context.js'
import type { IncomingBlock } from './chain-change.js'
import type { VerifiedConfirms } from './verified-confirms.js'

/**
 * Enough to keep two threads busy for 6 ms. The few signatures of one confirm would stay below the size from which the verifier uses
 * its threads.
 * @tuning count: signatures of confirms verified in one call, after which no further block is added
 */
const checksAtOnce = 256

/** Context for checking confirms. */
export interface ConfirmChecking {
  readonly sanity: SanityContext
  /** Signatures of confirms that hold singly: verified as votes, or made by the own validator. */
  readonly confirmSignatures: SignatureCache
  /** Confirms verified with headers that arrived before their blocks. */
  readonly verifiedConfirms: VerifiedConfirms
  readonly verifier: Verifier
}

/** Checks the confirm of a block, which must be absent without validators. */
export async function checkConfirmOf(
  header: Header,
  bytes: Uint8Array | undefined,
  checking: ConfirmChecking,
): Promise<void> {
  await runChecks(unverifiedOf(header, bytes, checking), checking.verifier)
}

/** The signature checks of a confirm that are left to do; throws the RuleError of another rule that it breaks. */
function unverifiedOf(
  header: Header,
  bytes: Uint8Array | undefined,
  { sanity: { spec }, confirmSignatures, verifiedConfirms }: ConfirmChecking,
): readonly SignatureCheck[] {
  if (spec.hasValidators && bytes !== undefined && verifiedConfirms.has(header, bytes)) return []
  return confirmSignatures.unknown(signaturesOf(spec, header, bytes))
}

/** The signature checks of a confirm; throws the RuleError of another rule that it breaks. */
function signaturesOf(spec: Spec, header: Header, bytes: Uint8Array | undefined): SignatureCheck[] {
  if (spec.hasValidators) {
    if (bytes === undefined) throw brokenRule('confirm-missing')
    return checkConfirm(spec, header, parseConfirm(bytes))
  }
  if (bytes !== undefined) throw brokenRule('confirm-unexpected')
  return []
}

/** A confirm that breaks no rule but perhaps that its signatures verify. */
export interface WellFormedConfirm {
  /** Resolves when its signatures hold; rejects with the RuleError of the first one that does not. */
  readonly confirmed: Promise<void>
}

/** Confirms of consecutive blocks, whose signatures are verified in one call. */
interface Portion {
  /** Index of the first block after them. */
  readonly end: number
  /** By block: the rule that its confirm breaks apart from its signatures. */
  readonly faults: ReadonlyMap<number, Error>
  /** The first block with a signature that does not verify, and its error; undefined: all hold. */
  readonly failed: Promise<{ readonly block: number; readonly rule: RuleError } | undefined>
}

/**
 * The confirms of a run of blocks. Those of one portion are verified while the next one is read and blocks are checked: a run that ends
 * early verifies two portions for nothing at most. `assumed`: signatures are assumed valid.
 */
export class RunConfirms {
  readonly #blocks: readonly IncomingBlock[]
  readonly #checking: ConfirmChecking
  readonly #assumed: boolean
  #current: Portion | undefined
  #next: Promise<Portion>

  constructor(blocks: readonly IncomingBlock[], checking: ConfirmChecking, { assumed }: { readonly assumed: boolean }) {
    this.#blocks = blocks
    this.#checking = checking
    this.#assumed = assumed
    this.#next = this.#start(0)
  }

  /**
   * The confirm of a block of the run, with its signatures under way. Throws the RuleError of a rule that the confirm breaks apart
   * from them. The caller asks for blocks in order.
   */
  async of(index: number): Promise<WellFormedConfirm> {
    while (this.#current === undefined || index >= this.#current.end) {
      this.#current = await this.#next
      this.#next = this.#start(this.#current.end)
    }
    const { faults, failed } = this.#current
    const fault = faults.get(index)
    if (fault !== undefined) throw fault
    const confirmed = failed.then((first) => {
      if (first?.block === index) throw first.rule
    })
    // The caller awaits it later, or never if an earlier block breaks a rule.
    confirmed.catch(() => {})
    return { confirmed }
  }

  /** Reads a portion from a block on, and has the verifier begin with it. */
  #start(from: number): Promise<Portion> {
    const portion = this.#read(from).then(({ end, faults, checks, owners }) => {
      const failed = this.#checking.verifier.verifyAll(checks).then((index) => {
        const failing = checks[index]
        return failing && { block: owners[index] as number, rule: failureOf(failing) }
      })
      failed.catch(() => {})
      return { end, faults, failed }
    })
    portion.catch(() => {})
    return portion
  }

  async #read(from: number) {
    const faults = new Map<number, Error>()
    const checks: SignatureCheck[] = []
    const owners: number[] = []
    let end = from
    await cooperate(() => {
      const block = this.#blocks[end]
      if (block === undefined || checks.length >= checksAtOnce) return false
      try {
        for (const check of this.#unverified(block)) owners[checks.push(check) - 1] = end
      } catch (error) {
        if (!(error instanceof RuleError) && !(error instanceof CodecError)) throw error
        faults.set(end, error)
      }
      end++
      return true
    })
    return { end, faults, checks, owners }
  }

  #unverified({ block, confirm, matched }: IncomingBlock): readonly SignatureCheck[] {
    const header = matched?.header ?? Header.read(new Reader(block))
    if (!this.#assumed) return unverifiedOf(header, confirm, this.#checking)
    signaturesOf(this.#checking.sanity.spec, header, confirm)
    return []
  }
}
