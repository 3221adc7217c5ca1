import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { latestCoinRoot } from '../../base/primitives/spec.js'
import type { Log } from '../../base/runtime/env.js'
import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import { replaceFile } from '../storage/replace-file.js'
import { KeptState } from './kept-state.js'
import type { Part } from './parts.js'
import { stateFile } from './parts.js'
import { latestState, PartTooLarge, stateParts, type WritableState, type WritingOptions } from './write-state.js'

export interface StateKeeperOptions {
  readonly chain: Chain
  /** Directory for the files; made if absent. */
  readonly directory: string
  readonly log: Log
  readonly writing?: WritingOptions
}

/** A state in a file, and the block that commits to its coins. */
export interface KeptForPeers {
  readonly state: KeptState
  readonly committing: KnownHeader
}

/** Blocks after which a state is written again that could not be written. */
const retryAfter = 100

/** Ends the writing of a state. */
class Closed extends Error {}

/** Keeps the latest state that the blocks of a chain commit to in a file for peers, and writes it anew when there is a later one. */
export class StateKeeper {
  readonly #options: StateKeeperOptions
  #kept: KeptForPeers | undefined
  #running: Promise<void> | undefined
  #closed = false
  /** Height of the tip from which on it is tried again. */
  #retryAt = 0
  /** Height of the block that commits to a state which cannot be written. */
  #refused = 0
  readonly #follow = () => {
    if (this.#isLatest() || this.#options.chain.tip.header.height < this.#retryAt) return
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  constructor(options: StateKeeperOptions) {
    this.#options = options
  }

  /** Begins to follow the chain. */
  start(): void {
    this.#options.chain.events.on('change', this.#follow)
    this.#follow()
  }

  /** The state that peers may have; undefined where there is none of the active chain. */
  get latest(): KeptForPeers | undefined {
    return this.#kept !== undefined && this.#isActive(this.#kept.committing) ? this.#kept : undefined
  }

  /** Gives up a file that cannot be read, and writes another one. */
  async drop(reason: unknown): Promise<void> {
    const { log } = this.#options
    log.warn({ error: String(reason) }, 'the file of the state for peers cannot be read, and is written again')
    await this.#forget()
    this.#follow()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#options.chain.events.off('change', this.#follow)
    await this.#running
    await this.#kept?.state.close()
  }

  /** Whether there is nothing to write. */
  #isLatest(): boolean {
    const { spec, tip, prunedHeight } = this.#options.chain
    const root = latestCoinRoot(spec, tip.header.height)
    if (root === undefined || root.height > tip.header.height || prunedHeight > 0) return true
    if (root.height === this.#refused) return true
    return this.latest?.committing.header.height === root.height
  }

  #isActive({ header }: KnownHeader): boolean {
    const hash: Hash | undefined = this.#options.chain.headers.activeHash(header.height)
    return hash !== undefined && equalBytes(hash, header.hash)
  }

  async #run(): Promise<void> {
    const { chain, directory, log } = this.#options
    let committing = 0
    try {
      while (!this.#closed && !this.#isLatest()) {
        const writable = latestState(chain)
        committing = writable.committing.header.height
        const path = join(directory, fileName(writable))
        await mkdir(directory, { recursive: true, mode: 0o700 })
        const written = await KeptState.open(path).catch(() => this.#write(path, writable))
        await this.#forget(fileName(writable))
        this.#kept = { state: written, committing: writable.committing }
        log.info({ height: written.height }, 'the state is there for peers that join by it')
      }
    } catch (error) {
      if (error instanceof Closed) return
      if (error instanceof PartTooLarge) {
        // Another try would read all of it again.
        this.#refused = committing
        log.warn({ error: error.message, committing }, 'there is no new state for peers that join')
        return
      }
      this.#retryAt = chain.tip.header.height + retryAfter
      log.warn({ error: String(error) }, `the state for peers could not be written; block ${this.#retryAt} tries again`)
    }
  }

  async #write(path: string, writable: WritableState): Promise<KeptState> {
    const { chain, writing } = this.#options
    await replaceFile(path, stateFile(this.#untilClosed(stateParts(chain, writable, writing))))
    return KeptState.open(path)
  }

  async *#untilClosed(parts: AsyncIterable<Omit<Part, 'number'>>): AsyncGenerator<Omit<Part, 'number'>> {
    for await (const part of parts) {
      if (this.#closed) throw new Closed()
      yield part
    }
  }

  /** Removes all files but one. */
  async #forget(but?: string): Promise<void> {
    const { directory } = this.#options
    await this.#kept?.state.close()
    this.#kept = undefined
    for (const name of await readdir(directory)) if (name !== but) await rm(join(directory, name), { force: true })
  }
}

function fileName({ state, committing }: WritableState): string {
  return `${state.header.height}-${committing.header.id.slice(0, 16)}.dls`
}
