import { quickSigner } from '../../src/base/crypto/quick-signer.js'
import { equalBytes } from '../../src/base/primitives/bytes.js'
import { absentDid } from '../../src/identity/did/absent-did.js'
import type { Fetch } from '../../src/clients/light/ask-server.js'
import type { LightError } from '../../src/clients/light/light-error.js'
import { LightResolver } from '../../src/clients/light/light-resolver.js'
import type { LightWitness } from '../../src/clients/witness/light-witness.js'
import type { WitnessSigner } from '../../src/clients/witness/witness-signer.js'
import type { ForkEvidence } from '../../src/identity/proofs/fork.js'
import { quorumOf } from '../../src/identity/proofs/anchor-confirm.js'
import { readNote, verifierKeyText } from '../../src/identity/proofs/witness-note.js'
import { paperGenesis, ProofBook } from '../support/builders/proof-book.js'
import { random } from '../support/builders/random-chain.js'
import { branchOf, signerOf, witnessOver, withWitnesses, witnessSecret } from '../support/builders/witness-world.js'
import { lightServers } from '../support/fakes/light-server.js'

/**
 * A quorum of validators that may show two histories to two readers, and witnesses that each see one of them. Nodes, witnesses and readers
 * act in turns that a seed decides; requests get lost. Promises, each a failure with the seed where it breaks:
 *
 * - an honest quorum is never accused, and no honest witness of it is alarmed;
 * - no reader takes a block of one history above the fork that fewer witnesses saw than it needs;
 * - a reader who needs all witnesses, one of which saw the other history, has evidence that a stranger verifies.
 */

/** Faults that a test plants. */
export interface Tampering {
  /** Passes on what readers hear of witnesses and gives a changed answer. */
  readonly fetch?: (fetch: Fetch) => Fetch
  /** What a witness does instead of refusing a head that does not follow. */
  readonly witness?: (signer: WitnessSigner) => WitnessSigner
  /** Each witness asks the nodes of both histories. */
  readonly seesBoth?: boolean
}

export interface SplitTally {
  honest: number
  split: number
  accepted: number
  refused: number
  foundOut: number
  lost: number
}

const worldTime = 1_780_000_000
const hosts = ['node-a', 'node-b'] as const

class Broken extends Error {}

export async function simulateSplit(seed: number, tampering: Tampering = {}): Promise<SplitTally> {
  const roll = random(seed * 2_654_435_761)
  const isHonest = roll(3) === 0
  const tally: SplitTally = {
    honest: Number(isHonest),
    split: Number(!isHonest),
    accepted: 0,
    refused: 0,
    foundOut: 0,
    lost: 0,
  }
  const broken = (what: string) => new Broken(`seed ${seed}: ${what}`)
  const signers = Array.from({ length: 1 + roll(7) }, () => quickSigner())
  const whole = new ProofBook(paperGenesis(`split ${seed}`, worldTime), [{ height: 1, signers }])
  const length = 6 + roll(8)
  for (let i = 0; i < length; i++) whole.make({ padding: roll(3) })
  const fork = 1 + roll(length - 2)
  const other = isHonest
    ? whole
    : branchOf(
        whole,
        fork,
        Array.from({ length: length - fork }, () => ({ padding: 3 + roll(3) })),
      )
  const books = [whole, other] as const
  /** What each node has by now. */
  const nodes = books.map((book) => branchOf(book, 1 + roll(length - 1))) as [ProofBook, ProofBook]
  const names = Array.from({ length: 1 + roll(3) }, (_, i) => `witness-${i}`)
  const secrets = names.map(witnessSecret)
  const signersOf: WitnessSigner[] = []
  for (const secret of secrets) {
    const signer = await signerOf(whole, secret)
    signersOf.push(tampering.witness?.(signer) ?? signer)
  }
  const cosigned = (side: 0 | 1) => (height: number) => linesOver(nodes[side], height, signersOf)
  let isLossy = true
  const lossy: Fetch = async (url, init) => {
    if (isLossy && roll(10) === 0) {
      tally.lost++
      throw new TypeError('lost')
    }
    return inner(url, init)
  }
  const servers = {
    [hosts[0]]: { book: nodes[0], cosigned: cosigned(0) },
    [hosts[1]]: { book: nodes[1], cosigned: cosigned(1) },
  }
  const inner = withWitnesses(
    lightServers(servers),
    Object.fromEntries(names.map((name, i) => [name, signersOf[i] as WitnessSigner])),
  )
  const evidence: ForkEvidence[] = []
  const sideOf = signersOf.map(() => roll(2) as 0 | 1)
  const seen = (side: 0 | 1) => (tampering.seesBoth === true ? hosts : [hosts[side]]).map((host) => `http://${host}`)
  const witnesses = signersOf.map((signer, i): LightWitness =>
    witnessOver(whole, signer, {
      ...{ servers: seen(sideOf[i] as 0 | 1), fetch: lossy },
      onEvidence: (found) => evidence.push(found),
    }),
  )
  const keys = secrets.map(({ key }, i) => `${verifierKeyText(key)},http://${names[i]}`)
  const heard = tampering.fetch?.(lossy) ?? lossy
  const reader = (side: 0 | 1, needed: number) =>
    new LightResolver({
      ...{ servers: [`http://${hosts[side]}`], trust: whole.trust(), fetch: heard, maxAge: 1e9, allowOldRoot: true },
      ...{ witnesses: { keys, needed }, now: () => (whole.tip.time + 1) * 1000 },
      onFork: ({ evidence: found }) => found && evidence.push(found),
    })
  const needs = [1 + roll(names.length), 1 + roll(names.length)] as const
  const readers = [reader(0, needs[0]), reader(1, needs[1])] as const

  /** A question of a reader, and the promises about its answer. */
  async function ask(side: 0 | 1): Promise<void> {
    try {
      const { proved } = await readers[side].resolve(absentDid)
      tally.accepted++
      if (isHonest || proved.height <= fork) return
      const saw = signersOf.filter((signer) => hasSigned(signer, proved.height, books[side])).length
      if (saw < needs[side])
        throw broken(`reader ${side} took block ${proved.height} that ${saw} of ${needs[side]} witnesses saw`)
    } catch (error) {
      if (error instanceof Broken) throw error
      tally.refused++
      const { failure } = error as LightError
      if (isHonest && ['fork', 'contradiction'].includes(failure))
        throw broken(`an honest quorum is accused: ${failure}`)
    }
  }

  for (let step = 0; step < 24; step++) {
    const side = roll(2) as 0 | 1
    const act = roll(4)
    if (act === 0) grow(nodes[side], books[side])
    else if (act === 1) await ask(side)
    else await witnesses[roll(witnesses.length)]?.round()
  }
  // The end: all have all blocks, and no request is lost any more.
  isLossy = false
  for (const side of [0, 1] as const) while (nodes[side].tip.height < length) grow(nodes[side], books[side])
  for (const witness of witnesses) await witness.round()
  if (isHonest) {
    const alarms = signersOf.flatMap(({ alarm }) => alarm ?? [])
    if (evidence.length + alarms.length > 0) throw broken(`an honest quorum is accused: ${alarms.join()}`)
    for (const side of [0, 1] as const) await ask(side)
    return tally
  }
  for (const side of [0, 1] as const) {
    if (!sideOf.some((one) => one !== side)) continue
    const error = await findingOut(reader(side, names.length))
    if (error.failure !== 'fork')
      throw broken(`reader ${side}, of whom a witness saw the other history, has ${error.failure}`)
    const stranger = new LightResolver({ servers: [], trust: whole.trust() })
    const { validators } = await stranger.verifyEvidence(JSON.parse(JSON.stringify(error.evidence)))
    const least = 2 * quorumOf(signers.length) - signers.length
    if (validators.length < least)
      throw broken(`the evidence accuses ${validators.length} validators, ${least} signed both`)
    tally.foundOut++
  }
  return tally
}

/** Asks until a fork is found: an answer of before the fork may come first, while the witnesses are compared. */
async function findingOut(light: LightResolver): Promise<{ readonly failure?: string; readonly evidence?: unknown }> {
  for (let left = 50; ; left--) {
    const outcome = await light.resolve(absentDid).catch((one: unknown) => one as LightError)
    if ('failure' in outcome || left === 0) return outcome as LightError
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function grow(node: ProofBook, whole: ProofBook): void {
  const { block, confirm } = whole.pages[node.tip.height + 1] ?? {}
  if (block !== undefined) node.push(block, confirm)
}

/** Lines of witnesses over the block of a height of a node, as a node collects them. */
function linesOver(node: ProofBook, height: number, signers: readonly WitnessSigner[]): string[] {
  return signers.flatMap((signer) => {
    const { heads } = signer.heads.shown(height) as { heads: { note: string }[] }
    const notes = heads.map(({ note }) => readNote(note))
    const own = notes.filter(({ hash }) => equalBytes(hash, node.page(height).block.header.hash))
    return own.flatMap(({ lines }) => lines)
  })
}

function hasSigned(signer: WitnessSigner, height: number, book: ProofBook): boolean {
  return linesOver(book, height, [signer]).length > 0
}
