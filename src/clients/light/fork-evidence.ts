import { compareBytes, displayHash, equalBytes, toHex } from '../../base/primitives/bytes.js'
import { confirmBytes } from '../../base/primitives/confirm.js'
import { checkFork, evidenceFormat, type ForkEvidence, type ProvedFork } from '../../identity/proofs/fork.js'
import { knownMembers } from '../../identity/proofs/map-proof.js'
import { fail } from '../../identity/proofs/proof-failure.js'
import { displayHashText, list, members, requireFormat } from '../../identity/proofs/read-json.js'
import type { Checkpoint } from '../../identity/proofs/trust-root.js'
import type { WitnessKey } from '../../identity/proofs/witness-note.js'
import { keysInForce } from '../../identity/proofs/validator-list.js'
import type { AskedServer } from './time-limited-server.js'
import type { Contradiction, Side } from './contradiction.js'
import { allChanges, bundledLists } from './follow-changes.js'
import { rootedAnchor } from './rooted-anchor.js'
import type { ChainOptions } from './trust-basis.js'
import { asLightError } from './light-error.js'

/** Evidence of a fork: made from two answers, and checked as a stranger checks it. Loaded when there is some. */

/** The trust from which evidence is checked. */
export interface EvidenceTrust extends Pick<ChainOptions, 'trust' | 'signatures'> {
  readonly checkpoint: Checkpoint | undefined
  /** Keys of witnesses that count. */
  readonly witnesses?: readonly WitnessKey[] | undefined
}

/** Checks evidence by a trust root alone. */
export async function verifyEvidence(
  sent: unknown,
  { trust, checkpoint, signatures, witnesses }: EvidenceTrust,
): Promise<ProvedFork> {
  const { format, chain, changes, confirms } = members(sent, 'evidence')
  requireFormat(format, evidenceFormat)
  if (!equalBytes(displayHashText(chain), trust.chain)) fail('chain', 'it is of another chain')
  const isConfirmed = list(confirms, 2).some((one) => one !== null)
  if (isConfirmed && trust.validators === undefined) fail('form', 'blocks of this chain have no confirms')
  const lists = isConfirmed ? await bundledLists(trust, changes, checkpoint, signatures) : []
  const keysAt = (height: number) => keysInForce(lists, height)
  return signatures.settle(checkFork(sent, { genesis: trust.chain, keysAt, witnesses }))
}

/** Evidence of a contradiction that holds by itself, with changes of validators that any server shows; undefined where there is none. */
export async function provenFork(
  { sides }: Contradiction,
  believed: EvidenceTrust,
  servers: readonly AskedServer[],
): Promise<ForkEvidence | undefined> {
  const bound = await Promise.all(sides.map((side) => withRoot(side, servers)))
  const found = evidenceOf(bound as unknown as Contradiction['sides'], displayHash(believed.trust.chain))
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

/** A side whose block is shown by itself, with the root of its map where a server has it. */
async function withRoot(side: Side, servers: readonly AskedServer[]): Promise<Side> {
  const { block, leaf } = side
  if (leaf !== undefined) return side
  const anchor = await rootedAnchor(block, servers)
  return anchor === undefined ? side : { ...side, block: { ...block, anchor } }
}

/** The conflict that two sides show, without changes of validators; undefined where one of them is not confirmed. */
function evidenceOf(sides: Contradiction['sides'], chain: string): Omit<ForkEvidence, 'changes'> | undefined {
  const [a, b] = [...sides].sort(
    ({ block: { header: one } }, { block: { header: other } }) =>
      one.height - other.height || compareBytes(one.hash, other.hash),
  ) as [Side, Side]
  if ([a, b].some(({ block, note }) => block.confirm === undefined && note === undefined)) return undefined
  const whole = ({ block: { confirm } }: Side) => (confirm === undefined ? null : toHex(confirmBytes(confirm)))
  const hasNotes = a.note !== undefined || b.note !== undefined
  return {
    format: evidenceFormat,
    chain,
    headers: [toHex(a.block.header.bytes), toHex(b.block.header.bytes)],
    confirms: [whole(a), whole(b)],
    ...(hasNotes && { notes: [a.note ?? null, b.note ?? null] as const }),
    ...waysOf(a, b),
  }
}

/** Merkle paths from the history, or the map root, of either side to its block. */
function waysOf({ leaf: one, block: { anchor: a } }: Side, { leaf: other, block: { anchor: b } }: Side) {
  if (a === undefined || b === undefined) return {}
  const shown = { coinbases: [a.coinbase, b.coinbase] as const, branches: [a.branch, b.branch] as const }
  if (one === undefined || other === undefined) {
    if (a.root === undefined || b.root === undefined) return {}
    return { ...shown, roots: [toHex(a.root), toHex(b.root)] as const }
  }
  return {
    leaf: one.name,
    ...shown,
    maps: [knownMembers(one.map), knownMembers(other.map)] as const,
  }
}
