/**
 * Writes the registry into files that prove themselves, for web servers and object stores: follows the chain, one step after another.
 *
 *   change of the tip -> mirrorStep (mirror-step.ts), in one snapshot of the rows
 *     -> changesBetween, MirroredState (mirrored-state.ts)   pages and leaves that changed; all of them for a mirror that has none of it
 *     -> wholeHeaders, lastFiles (mirrored-headers.ts)       headers
 *     -> MirrorStore (mirror-store.ts)                       a folder, or an object store, while no other process has it (writer-mark.ts)
 *     -> OwnFiles (own-files.ts)                             the head, last of all; lists of what no later block needs
 *
 * Imports errors, primitives, runtime, did, proofs, storage; used by api, node, cli.
 * - A head never names a file that is not there: a crash leaves files that nothing names, and the next step finds them noted.
 * - Files of pages and leaves never change: their names are hashes of what they hold.
 * - Slower than the chain it leaves out blocks, and goes to the newest.
 */
import { displayHash, equalBytes, fromUtf8, parseDisplayHash } from '../../base/primitives/bytes.js'
import type { Env } from '../../base/runtime/env.js'
import { aboutName, type MirrorHead } from '../../identity/proofs/mirror-head.js'
import type { RowSource } from '../storage/stored-rows.js'
import type { MirrorStore } from './mirror-store.js'
import { type MirroredChain, mirrorStep, type StepResult } from './mirror-step.js'
import { type Keeping, OwnFiles, requireMirrorOf } from './own-files.js'
import { WriterMark } from './writer-mark.js'

/** @tuning ms: wait after a step that failed, and the longest one */
const firstWait = 1000
const longestWait = 60_000
/** @limit bytes: a file beside those of the chain that a mirror writes again where it differs */
const longestExtra = 4 * 1024 * 1024

export interface MirrorOptions extends Pick<Env, 'clock' | 'random' | 'timers' | 'log'>, Keeping {
  readonly store: MirrorStore
  /** Name of its place, for people. */
  readonly place: string
  readonly chain: MirroredChain
  readonly database: Pick<RowSource, 'freeze'>
  readonly events: {
    on(event: 'change', listener: () => void): unknown
    off(event: 'change', listener: () => void): unknown
  }
  readonly allVersions: boolean
  /** Content of the file in which the mirror speaks of itself. */
  about(): unknown
  /** Pages beside the files, by name. */
  readonly pages: ReadonlyMap<string, Uint8Array>
  /** Whether the tip is one to mirror: a node that catches up has thousands of blocks before it. */
  isInStep(): boolean
}

/** Figures of a mirror. */
export interface MirrorFigures {
  /** Height of the head; undefined: there is none yet. */
  readonly height: number | undefined
  readonly files: number
  readonly bytes: number
  /** Steps that failed since the last one that did not. */
  readonly failures: number
}

/** @tuning ms: time for the last blocks when a mirror is closed */
const closeGrace = 5_000

/** Ends a step of a mirror that is closed. */
class Closed extends Error {}

export class Mirror {
  readonly #options: MirrorOptions
  #own: OwnFiles | undefined
  #mark: WriterMark | undefined
  #running: Promise<void> | undefined
  #again = false
  #closed = false
  #files = 0
  #bytes = 0
  #failures = 0
  #cancelRetry = () => {}
  /** Looks whether there is something to write; each change of the tip does so too. */
  readonly look = () => {
    this.#again = true
    if (this.#failures === 0) this.#run()
  }

  constructor(options: MirrorOptions) {
    this.#options = options
  }

  /** Name of its place, for people. */
  get place(): string {
    return this.#options.place
  }

  get figures(): MirrorFigures {
    return { height: this.#own?.head?.height, files: this.#files, bytes: this.#bytes, failures: this.#failures }
  }

  /** Reads what the mirror has, writes what surrounds it, and begins to follow the chain. */
  async start(): Promise<void> {
    await this.#open()
    this.#options.events.on('change', this.look)
    this.look()
  }

  /** Writes the files as of the tip; the head that the mirror has then, undefined: no block of the chain is proved yet. */
  async once(): Promise<MirrorHead | undefined> {
    await this.#open()
    await this.#step()
    return this.#own?.head
  }

  /** Writes the last blocks, for {@link closeGrace} at most: a chain may be gone with its node. Ends between two files. */
  async close(): Promise<void> {
    this.#options.events.off('change', this.look)
    await this.#lastSteps()
    this.#closed = true
    this.#cancelRetry()
    await this.#running
    await this.#options.store.close()
  }

  /** Resolves when no step runs, or after {@link closeGrace}. */
  async #lastSteps(): Promise<void> {
    let isOver = false
    await new Promise<void>((resolve) => {
      const over = () => {
        isOver = true
        cancel()
        resolve()
      }
      const cancel = this.#options.timers.after(closeGrace, over)
      const wait = async () => {
        while (this.#running !== undefined && !isOver) await this.#running
      }
      void wait().then(over)
    })
  }

  async #open(): Promise<void> {
    const { store, chain, random, pages, about } = this.#options
    const genesis = displayHash(chain.genesis)
    await requireMirrorOf(store, genesis)
    this.#mark = await WriterMark.set(store, random)
    this.#own = await OwnFiles.open(store, genesis)
    for (const [name, bytes] of [...pages, [aboutName, fromUtf8(JSON.stringify(about()))] as const]) {
      const stored = await store.get(name, longestExtra).catch(() => undefined)
      if (stored === undefined || !equalBytes(stored, bytes)) await store.replace({ name, bytes })
    }
  }

  #run(): void {
    this.#running ??= this.#steps().finally(() => {
      this.#running = undefined
      if (this.#again && !this.#closed && this.#failures === 0) this.#run()
    })
  }

  async #steps(): Promise<void> {
    const { log, timers } = this.#options
    try {
      while (this.#again && !this.#closed) {
        this.#again = false
        if (!this.#options.isInStep()) continue
        await this.#step()
        await this.#cosign()
      }
      if (this.#failures > 0) log.info({ height: this.figures.height }, 'the mirror is written again')
      this.#failures = 0
    } catch (error) {
      if (error instanceof Closed) return
      const wait = Math.min(firstWait * 2 ** this.#failures++, longestWait)
      log.warn({ error: String(error), wait }, 'a step of the mirror failed; it is tried again')
      this.#again = true
      this.#cancelRetry = timers.after(wait, () => {
        if (!this.#closed) this.#run()
      })
    }
  }

  async #step(): Promise<void> {
    const { database, clock, log } = this.#options
    await (this.#mark as WriterMark).require()
    const rows = database.freeze()
    try {
      const began = clock.now()
      const result = await mirrorStep(rows, {
        ...this.#options,
        own: this.#own as OwnFiles,
        now: () => clock.now(),
        requireOpen: () => {
          if (this.#closed) throw new Closed()
        },
      })
      if (result !== undefined) this.#note(result, clock.now() - began, log)
    } finally {
      rows.close()
    }
  }

  /** Writes the head again where witnesses have signed its block since. */
  async #cosign(): Promise<void> {
    const own = this.#own as OwnFiles
    const { chain } = this.#options
    const hash = own.head && parseDisplayHash(own.head.hash)
    if (own.head === undefined || hash === undefined) return
    const cosignatures = chain.cosignatures?.({ height: own.head.height, hash }) ?? []
    if (cosignatures.length <= (own.head.cosignatures?.length ?? 0)) return
    await own.putHead({ ...own.head, cosignatures }, this.#options)
  }

  #note({ head, files, bytes }: StepResult, milliseconds: number, log: Env['log']): void {
    this.#files += files
    this.#bytes += bytes
    const fields = { height: head.height, files, bytes, milliseconds }
    if (files > 1000) log.info(fields, 'the mirror has a new head')
    else log.debug(fields, 'the mirror has a new head')
  }
}
