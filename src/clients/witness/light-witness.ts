import { equalBytes } from '../../base/primitives/bytes.js'
import type { Log } from '../../base/runtime/env.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { type AnchoredBlock, anchorJson, readAnchor } from '../../identity/proofs/anchor.js'
import { fail } from '../../identity/proofs/proof-failure.js'
import { members } from '../../identity/proofs/read-json.js'
import type { Checkpoint, Trust } from '../../identity/proofs/trust-root.js'
import { maxHeaders, readHeaders } from '../../identity/proofs/work.js'
import { type Fetch, NodeServer, type Server } from '../light/ask-server.js'
import { BlockAges } from '../light/block-age.js'
import { checkFollowing } from '../light/check-following.js'
import type { FollowedChain } from '../light/followed-chain.js'
import { asLightError } from '../light/light-error.js'
import { openChain } from '../light/open-chain.js'
import { distinctServers } from '../light/server-url.js'
import { Signatures, type Subtle } from '../light/signatures.js'
import { Contradiction } from '../light/contradiction.js'
import { provenFork } from '../light/fork-evidence.js'
import { boundBlock, readWitnessHead } from '../light/witnessed-heads.js'
import type { ForkEvidence } from '../../identity/proofs/fork.js'
import { catchingUp } from '../light/time-limited-server.js'
import type { WitnessSigner } from './witness-signer.js'

export interface LightWitnessOptions {
  readonly servers: readonly string[]
  readonly trust: Trust
  readonly checkpoint?: Checkpoint | undefined
  readonly signer: WitnessSigner
  /** Blocks above a head on a chain without validators before it is signed. */
  readonly confirmations: number
  readonly allowOldRoot?: boolean
  readonly fetch?: Fetch
  readonly subtle?: Subtle | null
  /** Unix milliseconds. */
  readonly now?: () => number
  readonly log: Pick<Log, 'warn'>
  /** Takes evidence that validators confirmed two blocks of a height. */
  readonly onEvidence?: (evidence: ForkEvidence) => void
}

/** A witness without a node: follows a chain as a light resolver does, and signs a head that follows from the last one it signed. */
export class LightWitness {
  readonly #options: LightWitnessOptions
  readonly #servers: readonly Server[]
  readonly #signatures: Signatures
  readonly #ages: BlockAges
  #chain: FollowedChain | undefined
  /** The last failure of each server: one that stays is logged once. */
  readonly #told = new Map<string, string>()

  constructor(options: LightWitnessOptions) {
    const { servers, trust, subtle, now, allowOldRoot = false } = options
    const fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
    this.#options = options
    this.#servers = distinctServers(servers).map((url) => new NodeServer(url, fetch))
    this.#signatures = new Signatures(subtle)
    this.#ages = new BlockAges(trust, { allowOldRoot, ...(now && { now }) })
  }

  /** Asks every node for its newest head, and signs the ones that hold and follow, the lowest first. Resolves with the height signed last. */
  async round(): Promise<number | undefined> {
    const { signer, log } = this.#options
    const chain = await this.#opened()
    this.#ages.oldRoot(chain.seen)
    for (const server of this.#servers) {
      try {
        await this.#signHeadOf(server, chain)
        this.#told.delete(server.url)
      } catch (error) {
        const { failure, message } = asLightError(error)
        // A message may name a height, which is another one each time.
        if (this.#told.get(server.url) === failure) continue
        this.#told.set(server.url, failure)
        log.warn({ node: server.url, failure }, `no head of this node is signed: ${message}`)
      }
    }
    return signer.last?.height
  }

  async #opened(): Promise<FollowedChain> {
    const { trust, checkpoint, confirmations, signer } = this.#options
    const believed = { trust, checkpoint, confirmations, signatures: this.#signatures }
    return (this.#chain ??= await openChain(believed, this.#servers, signer.memory))
  }

  async #signHeadOf(server: Server, chain: FollowedChain): Promise<void> {
    const { signer } = this.#options
    const block = await this.#headOf(server, chain)
    const { header } = block
    const { last } = signer
    if (last !== undefined && header.height < last.height) return
    const ancestor = last === undefined ? undefined : await this.#ancestorOf(header, last.height, server)
    if (last === undefined || equalBytes(ancestor as Hash, last.hash)) chain.saw(block)
    else await this.#accuse(last, server, chain).catch((error: unknown) => this.#sayUnproved(error))
    signer.remember(await chain.text())
    await signer.sign({ ...block, anchor: anchorJson(block.anchor) }, ancestor)
  }

  /** Looks for evidence against a chain that has another block in the place of the one signed last. */
  async #accuse(last: Header, server: Server, chain: FollowedChain): Promise<void> {
    const { signer, trust, checkpoint, onEvidence } = this.#options
    if (trust.work !== undefined || signer.head === undefined) return
    const following = { chain, signatures: this.#signatures, now: () => this.#ages.now() }
    const own = readWitnessHead(signer.head, true)
    const block = await checkFollowing(server, following, (known) => boundBlock(own.anchor, known))
    const other = await this.#blockOf(await server.get(`anchor/${last.height}`), server, chain)
    const believed = { trust, checkpoint, signatures: this.#signatures }
    const two = new Contradiction('two blocks of a height are confirmed', [{ block }, { block: other }])
    const evidence = await provenFork(two, believed, this.#servers)
    if (evidence !== undefined) onEvidence?.(evidence)
  }

  /** Logs why there is no evidence beside an alarm. */
  #sayUnproved(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    this.#options.log.warn({ reason }, 'a head does not follow from the one signed last, and there is no evidence yet')
  }

  /** The newest head of a node: confirmed by validators, or deep enough in the chain with most work. */
  async #headOf(server: Server, chain: FollowedChain): Promise<AnchoredBlock> {
    const block = await this.#blockOf(await server.get('anchor'), server, chain)
    this.#ages.requirePast(block)
    return block
  }

  async #blockOf(sent: unknown, server: Server, chain: FollowedChain): Promise<AnchoredBlock> {
    const { trust } = this.#options
    const hasValidators = trust.work === undefined
    const anchor = readAnchor(members(sent, 'an answer with a head')['anchor'], hasValidators)
    const following = { chain, signatures: this.#signatures, now: () => this.#ages.now() }
    return checkFollowing(server, following, (known) => boundBlock(anchor, known))
  }

  /** The hash at a height of the chain that ends in a head, by the headers between them: each names the one before. */
  async #ancestorOf(head: Header, height: number, slow: Server): Promise<Hash> {
    if (head.height === height) return head.hash
    const server = catchingUp(slow)
    let [ancestor, before]: (Hash | undefined)[] = []
    for (let from = height + 1; from <= head.height;) {
      const count = Math.min(maxHeaders, head.height - from + 1)
      const some = readHeaders(await server.get(`headers/${from}/${count}`), count)
      if (some.length === 0) fail('work-link', `no header at height ${from}`)
      for (const { header } of some) {
        const isNext = header.height === from++ && (before === undefined || equalBytes(header.previous, before))
        if (!isNext) fail('work-link', `header ${header.height} does not follow from the one before`)
        ancestor ??= header.previous
        before = header.hash
      }
    }
    // Headers that do not lead to a head that stands are a lie of the server, and prove nothing about the chain.
    if (before === undefined || !equalBytes(before, head.hash)) fail('work-link', 'its headers lead to another block')
    return ancestor as Hash
  }
}
