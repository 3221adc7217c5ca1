import { UserError } from '../../base/errors/rule-error.js'
import { displayHash, mapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Env } from '../../base/runtime/env.js'
import type { Chain } from '../../ledger/chain/chain.js'
import { tables } from '../../ledger/storage/rows/tables.js'
import { type Fetch, NodeServer } from '../../clients/light/ask-server.js'
import { Signatures } from '../../clients/light/signatures.js'
import { type CosignedHead, maxHeads, readWitnessHeads, witnessedFormat } from '../../clients/light/witnessed-heads.js'
import { committedBlock } from '../../identity/proofs/anchor.js'
import type { WitnessPlace } from '../../clients/light/witness-place.js'
import {
  headOf,
  isAbout,
  knownCosignatures,
  type KnownCosignature,
  requireCosignatures,
  verifierKeyText,
  type WitnessKey,
} from '../../identity/proofs/witness-note.js'

/** @tuning ms: between two questions to a witness */
const questionInterval = 5_000
/** @tuning ms: after a new block, which a witness signs then */
const blockInterval = 1_000
/** @tuning count: blocks whose cosignatures are kept */
const keptBlocks = 600

export interface WitnessCollectorOptions extends Pick<Env, 'timers' | 'log'> {
  readonly chain: Pick<Chain, 'database' | 'events' | 'genesis' | 'spec'>
  readonly witnesses: readonly WitnessPlace[]
  readonly fetch?: Fetch
  /** Overrides the number of blocks whose cosignatures are kept. */
  readonly kept?: number
}

/** Cosignatures of one block, by the name and ID of the key. */
interface Cosigned {
  readonly height: number
  readonly lines: Map<string, string>
}

/**
 * Collects cosignatures for the blocks of this node: asks each witness at intervals, one request at a time, and keeps what its key signed
 * about the own block of a height. A witness that is down, late or wrong holds up nothing.
 */
export class WitnessCollector {
  readonly #options: WitnessCollectorOptions
  readonly #signatures = new Signatures()
  readonly #blocks = new Map<string, Cosigned>()
  readonly #ends: (() => void)[] = []
  readonly #told = new Set<string>()
  #version = 0
  #isClosed = false

  constructor(options: WitnessCollectorOptions) {
    this.#options = options
    const { witnesses, fetch = (url, init) => globalThis.fetch(url, init) } = options
    for (const { key, url } of witnesses) if (url !== undefined) this.#follow(key, new NodeServer(url, fetch))
  }

  /** Counts the cosignatures that came: an answer that was made before may lack one. */
  get version(): number {
    return this.#version
  }

  /** The lines of all witnesses over a block, by its hash. */
  readonly cosignaturesOf = (hash: Hash): readonly string[] => {
    return [...(this.#blocks.get(mapKey(hash))?.lines.values() ?? [])]
  }

  /** The newest blocks with cosignatures, the highest first. */
  shown(): object {
    const { genesis } = this.#options.chain
    const heads = [...this.#blocks.entries()]
      .map(([id, { height, lines }]) => ({ id, height, cosignatures: [...lines.values()] }))
      .filter(({ id, height }) => this.#activeId(height) === id)
      .sort((a, b) => b.height - a.height)
      .slice(0, maxHeads)
      .map(({ height, cosignatures }) => ({ height, cosignatures }))
    return { format: witnessedFormat, chain: displayHash(genesis.header.hash), heads }
  }

  close(): void {
    this.#isClosed = true
    for (const end of this.#ends) end()
  }

  /** Asks one witness again and again; sooner after a block, since it signs that now. */
  #follow(key: WitnessKey, server: NodeServer): void {
    const { timers, chain } = this.#options
    let cancel = () => {}
    let isAsking = false
    const wait = (milliseconds: number) => {
      cancel()
      if (!this.#isClosed) cancel = timers.after(milliseconds, ask)
    }
    const ask = () => {
      isAsking = true
      void this.collect(key, server).finally(() => {
        isAsking = false
        wait(questionInterval)
      })
    }
    const onChange = () => {
      if (!isAsking) wait(blockInterval)
    }
    chain.events.on('change', onChange)
    this.#ends.push(() => {
      chain.events.off('change', onChange)
      cancel()
    })
    wait(0)
  }

  /** Asks a witness once, and keeps what holds. */
  async collect(key: WitnessKey, server: NodeServer): Promise<void> {
    const { chain, log } = this.#options
    try {
      const heads = readWitnessHeads(await server.ask('witness/1/heads'), chain.spec.hasValidators)
      for (const head of heads) await this.#take(key, head)
      if (heads.length > 0 && heads.every(({ note }) => knownCosignatures(note.lines, [key]).length === 0)) {
        throw new UserError(`what it shows is signed by another key than ${verifierKeyText(key)}; was it changed?`)
      }
      this.#told.delete(key.name)
    } catch (error) {
      if (this.#told.has(key.name) || this.#isClosed) return
      this.#told.add(key.name)
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ witness: key.name, reason }, 'a witness shows no cosignatures')
    }
  }

  async #take(key: WitnessKey, head: CosignedHead): Promise<void> {
    const { note, header, anchor } = head
    const [known] = knownCosignatures(note.lines, [key])
    const active = this.#activeId(header.height)
    if (known === undefined || active === undefined) return
    const id = mapKey(header.hash)
    if (this.#blocks.get(id)?.lines.has(keyId(key)) === true) return
    const { genesis, spec } = this.#options.chain
    // A note with another root would be refused by every checker, and the answer with it.
    const signed = headOf(genesis.header.hash, committedBlock(anchor, header, spec.hasValidators))
    if (!isAbout(note, signed)) return
    await this.#signatures.settle(requireCosignatures(signed, [known]))
    if (active === id) this.#keep(id, header.height, known)
    else this.#tellOther(key, head)
  }

  #keep(id: string, height: number, { key, line }: KnownCosignature): void {
    if (!this.#hasRoom(id, height)) return
    const block = this.#blocks.get(id) ?? { height, lines: new Map<string, string>() }
    block.lines.set(keyId(key), line)
    this.#blocks.set(id, block)
    this.#version++
  }

  /** Makes room for a block at the cost of the lowest: a witness that signs old blocks without end displaces no newer ones. */
  #hasRoom(id: string, height: number): boolean {
    const { kept = keptBlocks } = this.#options
    if (this.#blocks.has(id) || this.#blocks.size < kept) return true
    const [lowest, block] = [...this.#blocks].reduce((low, one) => (one[1].height < low[1].height ? one : low))
    if (block.height >= height) return false
    return this.#blocks.delete(lowest)
  }

  /** Logs once that a witness has cosigned a block that this node does not have at that height. */
  #tellOther(key: WitnessKey, { note, text }: CosignedHead): void {
    const what = `${key.name} ${displayHash(note.hash)}`
    if (this.#told.has(what) || this.#told.size > keptBlocks) return
    this.#told.add(what)
    const { height, hash } = note
    this.#options.log.error(
      { witness: key.name, height, hash: displayHash(hash), note: text },
      'a witness cosigned another block than the one that this node has at that height',
    )
  }

  #activeId(height: number): string | undefined {
    const hash = this.#options.chain.database.get(tables.active.key(height))
    return hash && mapKey(hash)
  }
}

function keyId({ name, id }: WitnessKey): string {
  return `${name} ${mapKey(id)}`
}
