import type { Chain } from '../../ledger/chain/chain.js'
import { checkProofOfWork } from '../../identity/proofs/auxpow-proof.js'
import { checkConfirm } from '../../ledger/consensus/check-confirm.js'
import { checkClock, checkHeaderContext } from '../../ledger/consensus/context.js'
import { runChecks, type Verifier } from '../../base/crypto/verifier.js'
import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { parseAuxPow } from '../../base/primitives/auxpow.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { workOf } from '../../base/primitives/compact.js'
import { parseConfirm } from '../../base/primitives/confirm.js'
import type { Header } from '../../base/primitives/header.js'
import type { SignatureCheck } from '../../base/primitives/signature.js'
import type { Steps } from '../../base/primitives/steps.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import type { Clock } from '../../base/runtime/env.js'
import type { PendingHeaders } from '../fetch/pending-headers.js'
import type { SyncPeer } from '../fetch/sync-peer.js'
import type { HeaderUnit } from '../wire/headers-message.js'

/** Headers per batch of signature verification. */
const portion = 200

/** Context of header verification. */
export interface HeaderChecking {
  readonly chain: Chain
  readonly verifier: Verifier
  readonly clock: Clock
  /** Whether the signatures of the block with this header are assumed valid. */
  assumed(header: Header): boolean
  /** Takes a valid header whose time is too far ahead of the clock, with the work of the chain that it ends. */
  ahead(header: Header, work: bigint): void
}

/** Throws `peer-headers` unless the units follow each other. */
export function checkLinks(units: readonly HeaderUnit[]): void {
  for (const [i, { header }] of units.entries()) {
    const before = units[i - 1]?.header
    if (before !== undefined && !(equalBytes(header.previous, before.hash) && header.height === before.height + 1)) {
      throw new RuleError('peer-headers', `${header.id} does not follow ${before.id}`)
    }
  }
}

/**
 * Signature checks of the confirm of a header that are left to do; none without validators, where a confirm is an error. A confirm that was
 * verified before, with an announcement or a branch that was cut, takes one hash. Single signatures are looked up only for the height that is
 * voted on: votes are of no later one.
 */
function confirmChecks(
  { spec, tip, confirmSignatures, verifiedConfirms }: Chain,
  { header, confirm }: HeaderUnit,
): readonly SignatureCheck[] {
  if (!spec.hasValidators) {
    if (confirm.length > 0) throw brokenRule('confirm-unexpected')
    return []
  }
  if (confirm.length === 0) throw brokenRule('confirm-missing')
  if (verifiedConfirms.has(header, confirm)) return []
  const checks = checkConfirm(spec, header, parseConfirm(confirm))
  return header.height > tip.header.height + 1 ? checks : confirmSignatures.unknown(checks)
}

/** Verifies the signatures of the confirms of headers, and has the chain skip these confirms when it connects the blocks. */
async function verifyConfirms(
  checks: readonly SignatureCheck[],
  units: readonly HeaderUnit[],
  { chain, verifier }: HeaderChecking,
): Promise<void> {
  await runChecks(checks, verifier)
  if (!chain.spec.hasValidators) return
  for (const { header, confirm } of units) chain.verifiedConfirms.add(header, confirm)
}

/** Verifies a header without its ancestors: its work, and on a chain with validators its confirm. Rejects with a RuleError. */
export async function checkProof(unit: HeaderUnit, checking: HeaderChecking): Promise<void> {
  checkProofOfWork(checking.chain.spec, unit.header, parseAuxPow(unit.auxPow))
  await verifyConfirms(confirmChecks(checking.chain, unit), [unit], checking)
}

/**
 * Verifies consecutive headers on top of a branch and adds them: position, time, bits, work, and on a chain with validators the
 * confirm. Rejects with the RuleError of the first invalid header; those before it are added, unless a signature is invalid.
 * Stops adding when the end of the branch has moved.
 */
export async function extendBranch(
  branch: PendingHeaders,
  units: readonly HeaderUnit[],
  source: SyncPeer,
  checking: HeaderChecking,
): Promise<void> {
  for (let at = 0; at < units.length; at += portion) {
    const { hash: end } = branch.end
    const moved = () => !equalBytes(branch.end.hash, end)
    const passed = new PassedHeaders()
    let failure: unknown
    try {
      await runCooperatively(passSteps(units.slice(at, at + portion), passed, { branch, checking, moved }))
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      failure = error
    }
    const verified = passed.units.filter(({ assumed }) => !assumed).map(({ unit }) => unit)
    await verifyConfirms(passed.checks, verified, checking)
    if (moved()) return
    for (const { unit, assumed } of passed.units) branch.push(unit, source, assumed)
    if (failure !== undefined) throw failure
  }
}

/** Headers that broke no rule so far, but for their signatures. */
class PassedHeaders {
  readonly units: { readonly unit: HeaderUnit; readonly assumed: boolean }[] = []
  readonly headers: Header[] = []
  readonly checks: SignatureCheck[] = []
}

/** Checks the clock after the work: a header of the future counts only if it is proved. */
function checkTime(
  header: Header,
  passed: PassedHeaders,
  { branch, checking }: { readonly branch: PendingHeaders; readonly checking: HeaderChecking },
): void {
  const { chain, clock } = checking
  try {
    checkClock(chain.spec, header, clock.now())
  } catch (error) {
    const work = [...passed.headers, header].reduce((sum, { bits }) => sum + workOf(bits), branch.work)
    checking.ahead(header, work)
    throw error
  }
}

/** Checks headers one after another until the branch has moved. */
function* passSteps(
  units: readonly HeaderUnit[],
  passed: PassedHeaders,
  on: { readonly branch: PendingHeaders; readonly checking: HeaderChecking; readonly moved: () => boolean },
): Steps {
  const { branch, checking } = on
  const { spec, headers } = checking.chain
  for (const unit of units) {
    if (on.moved()) return
    const { header } = unit
    checkHeaderContext(spec, header, branch.ancestry(headers, passed.headers))
    checkProofOfWork(spec, header, parseAuxPow(unit.auxPow))
    checkTime(header, passed, on)
    const signatures = confirmChecks(checking.chain, unit)
    const assumed = checking.assumed(header)
    if (!assumed) passed.checks.push(...signatures)
    passed.units.push({ unit, assumed })
    passed.headers.push(header)
    yield
  }
}
