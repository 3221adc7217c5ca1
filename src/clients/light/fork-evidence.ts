import { compareBytes, displayHash, equalBytes, toHex } from '../../base/primitives/bytes.js'
import { type Confirm, confirmBytes } from '../../base/primitives/confirm.js'
import { checkFork, evidenceFormat, type ForkEvidence, type ProvedFork } from '../../identity/proofs/fork.js'
import { knownMembers } from '../../identity/proofs/map-proof.js'
import { fail } from '../../identity/proofs/proof-failure.js'
import { displayHashText, members, requireFormat } from '../../identity/proofs/read-json.js'
import type { Checkpoint } from '../../identity/proofs/trust-root.js'
import { keysInForce } from '../../identity/proofs/validator-list.js'
import type { AskedServer } from './time-limited-server.js'
import type { Contradiction, Side } from './contradiction.js'
import { allChanges, bundledLists } from './follow-changes.js'
import type { ChainOptions } from './trust-basis.js'
import { asLightError } from './light-error.js'

/** Evidence of a fork: made from two answers, and checked as a stranger checks it. Loaded when there is some. */

/** The trust from which evidence is checked. */
export interface EvidenceTrust extends Pick<ChainOptions, 'trust' | 'signatures'> {
  readonly checkpoint: Checkpoint | undefined
}

/** Checks evidence by a trust root alone. */
export async function verifyEvidence(
  sent: unknown,
  { trust, checkpoint, signatures }: EvidenceTrust,
): Promise<ProvedFork> {
  const { format, chain, changes } = members(sent, 'evidence')
  requireFormat(format, evidenceFormat)
  if (!equalBytes(displayHashText(chain), trust.chain)) fail('chain', 'it is of another chain')
  if (trust.validators === undefined) fail('form', 'blocks of this chain have no confirms')
  const lists = await bundledLists(trust, changes, checkpoint, signatures)
  const keysAt = (height: number) => keysInForce(lists, height)
  return signatures.settle(checkFork(sent, { genesis: trust.chain, keysAt }))
}

/** Evidence of a contradiction that holds by itself, with changes of validators that any server shows; undefined where there is none. */
export async function provenFork(
  { sides }: Contradiction,
  believed: EvidenceTrust,
  servers: readonly AskedServer[],
): Promise<ForkEvidence | undefined> {
  const found = evidenceOf(sides, displayHash(believed.trust.chain))
  if (found === undefined) return undefined
  for (const server of [undefined, ...servers]) {
    try {
      const changes = server === undefined ? [] : await allChanges(server, believed.checkpoint)
      // What is checked is what is handed out.
      const evidence = JSON.parse(JSON.stringify({ ...found, changes })) as ForkEvidence
      await verifyEvidence(evidence, believed)
      return evidence
    } catch (error) {
      asLightError(error)
    }
  }
  return undefined
}

/** The conflict that two sides show, without changes of validators; undefined where one of them is not confirmed. */
function evidenceOf(sides: Contradiction['sides'], chain: string): Omit<ForkEvidence, 'changes'> | undefined {
  const [a, b] = [...sides].sort(
    ({ block: { header: one } }, { block: { header: other } }) =>
      one.height - other.height || compareBytes(one.hash, other.hash),
  ) as [Side, Side]
  if (a.block.confirm === undefined || b.block.confirm === undefined) return undefined
  const whole = (confirm: Confirm) => toHex(confirmBytes(confirm))
  return {
    format: evidenceFormat,
    chain,
    headers: [toHex(a.block.header.bytes), toHex(b.block.header.bytes)],
    confirms: [whole(a.block.confirm), whole(b.block.confirm)],
    ...waysOf(a, b),
  }
}

/** The ways of the histories of two sides to their blocks. */
function waysOf({ leaf: one, block: { anchor: a } }: Side, { leaf: other, block: { anchor: b } }: Side) {
  if (one === undefined || other === undefined || a === undefined || b === undefined) return {}
  return {
    leaf: one.name,
    coinbases: [a.coinbase, b.coinbase] as const,
    branches: [a.branch, b.branch] as const,
    maps: [knownMembers(one.map), knownMembers(other.map)] as const,
  }
}
