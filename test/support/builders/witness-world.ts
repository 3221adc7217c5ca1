import { ed25519PublicKey, ed25519Signer } from '../../../src/base/crypto/ed25519.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import type { Fetch } from '../../../src/clients/light/ask-server.js'
import { LightWitness, type LightWitnessOptions } from '../../../src/clients/witness/light-witness.js'
import {
  firstWitnessState,
  type WitnessSecret,
  WitnessSigner,
  type WitnessStore,
} from '../../../src/clients/witness/witness-signer.js'
import { committedBlock, headerOf, readAnchor } from '../../../src/identity/proofs/anchor.js'
import { readTrust } from '../../../src/identity/proofs/trust-root.js'
import {
  type ChainHead,
  cosignatureLine,
  cosignedMessage,
  headOf,
  noteText,
  witnessKey,
} from '../../../src/identity/proofs/witness-note.js'
import { quietLog } from './chain.js'
import { MemorySigns } from '../network/voting-net.js'
import { type BlockPlan, ProofBook } from './proof-book.js'

/** Witnesses of chains in books. */

/** The same chain up to a height, and with its own blocks above. */
export function branchOf(book: ProofBook, height: number, blocks: readonly BlockPlan[] = []): ProofBook {
  const branch = new ProofBook(book.page(0).block, book.teams)
  for (const { block, confirm } of book.pages.slice(1, height + 1)) branch.push(block, confirm)
  for (const plan of blocks) branch.make(plan)
  return branch
}

/** A key whose name decides it. */
export function witnessSecret(name: string): WitnessSecret {
  const seed = sha256(`the seed of ${name}`)
  return { key: witnessKey(name, ed25519PublicKey(seed)), seed }
}

/** A store that has the first state of a key. */
export function freshSigns({ key }: WitnessSecret): MemorySigns {
  const signs = new MemorySigns()
  signs.bytes = firstWitnessState(key)
  return signs
}

/** The line of a witness over a block of a book. */
export function lineOver(book: ProofBook, height: number, secret: WitnessSecret, time = book.tip.time): string {
  const head = headIn(book, height)
  return cosignatureLine(secret.key, time, ed25519Signer(secret.seed)(cosignedMessage(head, time)))
}

/** The text of a block of a book that a witness cosigned. */
export function noteOver(book: ProofBook, height: number, secret: WitnessSecret): string {
  return noteText(headIn(book, height), [lineOver(book, height, secret)])
}

function headIn(book: ProofBook, height: number): ChainHead {
  const anchor = readAnchor(book.anchor(height), book.teams.length > 0)
  return headOf(book.genesis, committedBlock(anchor, headerOf(anchor), book.teams.length > 0))
}

export function signerOf(
  book: ProofBook,
  secret: WitnessSecret,
  { store = freshSigns(secret), onAlarm = () => {} }: { store?: WitnessStore; onAlarm?: (text: string) => void } = {},
): Promise<WitnessSigner> {
  return WitnessSigner.open({
    ...{ secret, store, onAlarm, genesis: book.genesis, hasValidators: book.teams.length > 0 },
    now: () => book.tip.time * 1000,
  })
}

/** A witness over servers of a world. */
export function witnessOver(
  book: ProofBook,
  signer: WitnessSigner,
  options: Partial<LightWitnessOptions> & Pick<LightWitnessOptions, 'servers' | 'fetch'>,
): LightWitness {
  const { time } = book.tip
  return new LightWitness({
    ...{ trust: readTrust(book.trust()), signer, confirmations: 6, allowOldRoot: true, log: quietLog() },
    now: () => Math.max(time, book.tip.time) * 1000,
    ...options,
  })
}

/** A `fetch` for which some hosts are witnesses. */
export function withWitnesses(fetch: Fetch, witnesses: Readonly<Record<string, WitnessSigner>>): Fetch {
  return async (url, init) => {
    const { hostname, pathname } = new URL(url)
    const witness = witnesses[hostname]
    if (witness === undefined) return fetch(url, init)
    const height = /^\/witness\/1\/heads\/(\d+)$/.exec(pathname)?.[1]
    return new Response(JSON.stringify(witness.heads.shown(height === undefined ? undefined : Number(height))))
  }
}
