import { RuleError, UserError } from '../../../base/errors/rule-error.js'
import type { Timers } from '../../../base/runtime/env.js'
import type { Backup, BackupOptions, BackupProgress, writeBackup } from './backup.js'
import type { Database } from '../database.js'
import type { DataDirectory } from '../directory.js'

/** Bytes a second that a backup of a running node copies: a gigabyte in half a minute. */
export const backupRate = 32 * 1024 * 1024
/** @tuning ms: time after the last answer to its client at which a backup ends */
export const backupLease = 30_000

/** State of a backup for its client. */
export interface BackupState extends BackupProgress {
  readonly path: string
  /** Present once the backup is complete. */
  readonly backup?: Backup
}

export interface BackupJobDependencies {
  readonly directory: DataDirectory
  readonly database: Database
  readonly timers: Timers
  /** Defaults: those of this file. */
  readonly options?: Pick<BackupOptions, 'rate' | 'freeBytes'>
}

/** A backup under way, and how it ended. */
interface Run {
  readonly path: string
  readonly abort: AbortController
  readonly ended: Promise<void>
  progress: BackupProgress
  outcome?: { readonly backup: Backup } | { readonly error: unknown }
  /** Clients that wait for it now. */
  waiting: number
}

/** Makes one backup at a time, for a client that asks again and again until it is complete. It ends when the client leaves. */
export class BackupJob {
  readonly #dependencies: BackupJobDependencies
  #run: Run | undefined
  #endLease = () => {}
  #closed = false

  constructor(dependencies: BackupJobDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Begins a backup to `path`, or follows the one under way, for at most `milliseconds`. Resolves with how far it is; rejects
   * with `backup-failed` and the reason, which may be another one under way. The end of a backup is told once.
   */
  async follow(path: string, milliseconds: number, client: AbortSignal): Promise<BackupState> {
    if (this.#closed) throw new RuleError('backup-failed', 'the node is stopping')
    const run = this.#runTo(path)
    this.#endLease()
    run.waiting++
    try {
      await this.#wait(run, milliseconds, client)
    } finally {
      run.waiting--
    }
    if (run.outcome !== undefined) {
      if (this.#run === run) this.#run = undefined
      if ('error' in run.outcome) throw failureOf(run.outcome.error)
      return { path, ...run.progress, backup: run.outcome.backup }
    }
    if (run.waiting === 0) {
      if (client.aborted) run.abort.abort(new UserError('its client left'))
      else this.#endLease = this.#dependencies.timers.after(backupLease, () => run.abort.abort(lateReason))
    }
    return { path, ...run.progress }
  }

  /** Ends a backup under way. */
  async close(): Promise<void> {
    this.#closed = true
    this.#endLease()
    this.#run?.abort.abort(new UserError('the node is stopping'))
    await this.#run?.ended
  }

  #runTo(path: string): Run {
    const { path: current, outcome } = this.#run ?? {}
    if (this.#run !== undefined && current === path) return this.#run
    if (current !== undefined && outcome === undefined) {
      throw new RuleError('backup-failed', `a backup to ${current} is being made; one at a time`)
    }
    const { directory, database, options } = this.#dependencies
    const abort = new AbortController()
    const run: Run = {
      path,
      abort,
      progress: { rows: 0, bytes: 0, total: 0 },
      waiting: 0,
      ended: begin({ directory, database }, path, {
        rate: backupRate,
        ...options,
        signal: abort.signal,
        progress: (progress) => (run.progress = progress),
      }).then(
        (backup) => void (run.outcome = { backup }),
        (error: unknown) => void (run.outcome = { error: abort.signal.aborted ? abort.signal.reason : error }),
      ),
    }
    this.#run = run
    return run
  }

  /** Resolves at the end of the backup, of the time, or when the client is gone. */
  async #wait({ ended }: Run, milliseconds: number, client: AbortSignal): Promise<void> {
    let cancel = () => {}
    let leave = () => {}
    const over = new Promise<void>((resolve) => {
      cancel = this.#dependencies.timers.after(milliseconds, resolve)
      leave = resolve
      client.addEventListener('abort', leave, { once: true })
      if (client.aborted) resolve()
    })
    await Promise.race([ended, over])
    cancel()
    client.removeEventListener('abort', leave)
  }
}

async function begin(...what: Parameters<typeof writeBackup>): Promise<Backup> {
  const backup = await import('./backup.js')
  return backup.writeBackup(...what)
}

const lateReason = new UserError(`its client did not ask again within ${backupLease / 1000} s`)

/** A refusal with its reason; what is no refusal is a defect or damage, which the log names. */
function failureOf(error: unknown): unknown {
  return error instanceof UserError ? new RuleError('backup-failed', error.message) : error
}
