import { UserError } from '../../base/errors/rule-error.js'
import { displayHash, equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { type Anchor, type AnchoredBlock, readAnchor } from '../../identity/proofs/anchor.js'
import { members } from '../../identity/proofs/read-json.js'
import {
  checkCosignatures,
  headOf,
  knownCosignatures,
  maxCosignatures,
  readCosignature,
  type WitnessKey,
} from '../../identity/proofs/witness-note.js'
import { type Fetch, NodeServer, type Server } from './ask-server.js'
import { checkFollowing } from './check-following.js'
import type { ProvedAnswer, Question } from './compare-answers.js'
import { Contradiction, requireSame as requireSameBlock } from './contradiction.js'
import type { FollowedChain } from './followed-chain.js'
import { LightError } from './light-error.js'
import type { Signatures } from './signatures.js'
import { boundBlock, type CosignedHead, readWitnessed, readWitnessHeads } from './witnessed-heads.js'
import { maxWitnesses } from './witness-bounds.js'
import { readWitnessPlace } from './witness-place.js'

/** Witnesses of a light resolver: who has to have cosigned the block of an answer. Loaded where there are some. */

/** Parties that are no validators and sign the heads that they have checked. */
export interface WitnessOptions {
  /** Public keys as C2SP writes them, `name+id+key`; with `,URL` behind one its witness is asked too where a node lacks cosignatures. */
  readonly keys: readonly string[]
  /** Cosignatures that a block needs; 1 by default. */
  readonly needed?: number
}

/** The chain and the tools by which heads of witnesses are checked. */
export interface WitnessTools {
  readonly genesis: Hash
  readonly signatures: Signatures
  readonly fetch: Fetch
  readonly hasValidators: boolean
  now(): number
  /** Takes a contradiction that is found while no answer waits for it. */
  onContradiction(server: string, error: Contradiction): void
}

type Prove<P> = (question: Question<P & ProvedAnswer>) => Promise<P>

export class Witnesses {
  readonly keys: readonly WitnessKey[]
  readonly #needed: number
  /** The block that was compared last. */
  #compared: string | undefined
  readonly #tools: WitnessTools
  readonly #asked: readonly { readonly key: WitnessKey; readonly server: NodeServer }[]

  /** `form` for a key that is none; a UserError where fewer keys are given than are needed. */
  constructor({ keys, needed = 1 }: WitnessOptions, tools: WitnessTools) {
    if (!Array.isArray(keys) || keys.length > maxWitnesses) {
      throw new UserError(`witnesses.keys: a list of at most ${maxWitnesses} keys is needed`)
    }
    const places = keys.map(readWitnessPlace)
    const different = new Set(places.map(({ key }) => displayHash(key.publicKey)))
    if (different.size < places.length) throw new UserError('witnesses.keys: a key is given twice, and counts once')
    if (!Number.isInteger(needed) || needed < 1 || needed > places.length) {
      throw new UserError(`witnesses.needed: ${needed} of ${places.length} witnesses can never be`)
    }
    this.keys = places.map(({ key }) => key)
    this.#needed = needed
    this.#tools = tools
    this.#asked = places.flatMap(({ key, url }) =>
      url === undefined ? [] : [{ key, server: new NodeServer(url, tools.fetch) }],
    )
  }

  /**
   * An answer whose block has enough cosignatures: the one that a server gives, else its answer as of the newest block with enough, else
   * the first one with what the witnesses themselves show. Throws `unwitnessed`, and a {@link Contradiction} where validators confirmed
   * another block that a witness saw.
   */
  async proved<P extends ProvedAnswer>(
    server: Server,
    chain: FollowedChain,
    question: Question<P>,
    prove: Prove<P>,
  ): Promise<P> {
    const first = await prove(question)
    // The block of the state that is completed has its cosignatures.
    if (question.sameAs !== undefined) return first
    try {
      return await this.require(first)
    } catch (error) {
      if (!isTooFew(error)) throw error
      const older = await this.#older(server, question, first)
      if (older !== undefined) {
        void this.#compareLater(first.block, { chain, server })
        return this.require(await prove(older))
      }
      return { ...first, block: await this.#byWitnesses(first.block, { chain, server }, error) }
    }
  }

  /** The answer with the names of the witnesses of its block; throws `unwitnessed` and `cosignature`. */
  async require<P extends ProvedAnswer>(answer: P): Promise<P> {
    return { ...answer, block: await this.#required(answer.block, answer.block.anchor.cosignatures) }
  }

  async #required(block: AnchoredBlock, lines: unknown): Promise<AnchoredBlock> {
    const { genesis, signatures } = this.#tools
    const demand = { keys: this.keys, needed: this.#needed }
    const found = await signatures.settle(checkCosignatures(headOf(genesis, block), lines, demand))
    return { ...block, witnesses: found.map(({ key }) => key.name) }
  }

  /** The question as of the newest block below an answer with enough cosignatures by what a server says; undefined: it has none. */
  async #older<P extends ProvedAnswer>(
    server: Server,
    { asOf, isPast, isGiven }: Question<P>,
    { block }: P,
  ): Promise<Question<P> | undefined> {
    if (isPast || isGiven === true) return undefined
    const heads = readWitnessed(await server.get('witnessed').catch(nothingThere), maxCosignatures)
    const enough = heads
      .filter(({ cosignatures }) => knownCosignatures(cosignatures, this.keys).length >= this.#needed)
      .map(({ height }) => height)
      .filter((height) => height > 0 && height < block.header.height)
    return enough.length === 0 ? undefined : asOf(Math.max(...enough))
  }

  /** Asks the witnesses themselves. Throws the error unless they cosigned the block. */
  async #byWitnesses(
    block: AnchoredBlock,
    place: { readonly chain: FollowedChain; readonly server: Server },
    error: Error,
  ): Promise<AnchoredBlock> {
    const heads = await this.heads(block.header.height)
    for (const head of heads) await this.requireSame(block, head, place)
    const own = heads.filter(({ note }) => equalBytes(note.hash, block.header.hash)).flatMap(({ note }) => note.lines)
    const sent = block.anchor.cosignatures
    const lines = [...(Array.isArray(sent) ? (sent as unknown[]) : []), ...own]
    if (own.length > 0) return this.#required(block, lines.slice(-maxCosignatures))
    const same = heads.filter(({ note }) => note.height === block.header.height)
    const others = same.map(({ note }) => `${namesOf(note.lines)} cosigned ${displayHash(note.hash)}`)
    if (others.length === 0) throw error
    throw new LightError('unwitnessed', `${error.message}; ${others.join(', ')} of that height`)
  }

  /** Compares a block that lacks cosignatures with what the witnesses show, each block once; no answer waits for it. */
  async #compareLater(
    block: AnchoredBlock,
    place: { readonly chain: FollowedChain; readonly server: Server },
  ): Promise<void> {
    const id = displayHash(block.header.hash)
    if (this.#compared === id) return
    this.#compared = id
    try {
      for (const head of await this.heads(block.header.height)) await this.requireSame(block, head, place)
    } catch (error) {
      if (error instanceof Contradiction) this.#tools.onContradiction(place.server.url, error)
    }
  }

  /** The head of each witness at a height, or its newest one below: it may have left that height out. */
  async heads(height: number): Promise<readonly CosignedHead[]> {
    const shown = await Promise.all(
      this.#asked.map(async ({ server }) => {
        try {
          const found = (await this.#headsOf(server, `/${height}`, height)) ?? (await this.#headsOf(server, '', height))
          return found ?? []
        } catch {
          // One that is down, or shows something else, has cosigned nothing.
          return []
        }
      }),
    )
    return shown.flat()
  }

  /** The highest head up to a height that a witness shows at a path; undefined: none. */
  async #headsOf(server: NodeServer, path: string, height: number): Promise<CosignedHead | undefined> {
    const heads = readWitnessHeads(await server.ask(`witness/1/heads${path}`), this.#tools.hasValidators)
    const below = heads.filter(({ note }) => note.height <= height)
    return below.sort((a, b) => b.note.height - a.note.height)[0]
  }

  /**
   * Throws a {@link Contradiction} where a witness shows another block than the server does at its height, and validators confirmed both.
   * The server shows its block of that height, and changes of validators.
   */
  async requireSame(
    block: AnchoredBlock,
    { header, anchor }: CosignedHead,
    { chain, server }: { readonly chain: FollowedChain; readonly server: Server },
  ): Promise<void> {
    const { signatures, now } = this.#tools
    if (block.confirm === undefined || equalBytes(header.hash, block.header.hash)) return
    const bound = (sent: Anchor) =>
      checkFollowing(server, { chain, signatures, now }, (known) => boundBlock(sent, known))
    try {
      const isSameHeight = header.height === block.header.height
      const own = isSameHeight ? block : await bound(await anchorAt(server, header.height))
      if (!equalBytes(own.header.hash, header.hash)) requireSameBlock(own, await bound(anchor))
    } catch (error) {
      // A witness alone is no evidence: it may have invented the block.
      if (error instanceof Contradiction) throw error
    }
  }
}

/** The block of a height as a server shows it by itself. */
async function anchorAt(server: Server, height: number): Promise<Anchor> {
  return readAnchor(members(await server.get(`anchor/${height}`), 'an answer with a block')['anchor'], true)
}

function isTooFew(error: unknown): error is Error {
  return error instanceof Error && 'failure' in error && error.failure === 'unwitnessed'
}

/** A server without that path has no cosignatures. */
function nothingThere(error: unknown): unknown {
  if (error instanceof LightError && error.failure === 'proof-missing')
    return { format: 'didledger/witnessed/1', heads: [] }
  throw error
}

function namesOf(lines: readonly string[]): string {
  return lines.flatMap((line) => readCosignature(line)?.name ?? []).join(', ')
}
