import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { claimOf, type FileCoverage, jobVariable, type Line, type Plan, planVariable } from './plan.js'

/** How one trial ended, and by which test or why. */
export interface Ended {
  readonly id: number
  readonly fate: 'killed' | 'endless' | 'survived' | 'doubtful'
  readonly why: string
}

interface Seen {
  covers(coverage: FileCoverage): void
  ends(ended: Ended): void
}

/** Milliseconds between two looks at what a process does. */
const interval = 200
/** How often a process may end in the middle of one piece of work before that piece is left out. */
const attempts = 2

/** Runs a plan in several processes. One that hangs is ended; another one goes on with what is left. */
export class Jobs {
  readonly #root: string
  readonly #seen: Seen
  readonly #folder = mkdtempSync(join(tmpdir(), 'didledger-mutants-plan-'))
  readonly #running = new Set<ChildProcess>()
  readonly #failures = new Map<string, number>()
  #started = 0
  #isClosed = false

  constructor(root: string, seen: Partial<Seen>) {
    this.#root = root
    this.#seen = { covers: () => {}, ends: () => {}, ...seen }
  }

  /** Until all of the plan is done, or the time is over. */
  async run(plan: Plan, { jobs, endAt }: { readonly jobs: number; readonly endAt: number }): Promise<void> {
    for (const name of ['claims', 'lines']) mkdirSync(join(this.#folder, name))
    writeFileSync(join(this.#folder, 'plan.json'), JSON.stringify(plan))
    const all = [...plan.files, ...plan.trials.map(({ id }) => String(id))]
    const isLeft = () => all.some((what) => !existsSync(this.#claim(what)))
    await Promise.all(
      Array.from({ length: jobs }, async () => {
        while (isLeft() && Date.now() < endAt && !this.#isClosed) await this.#runOne(endAt)
      }),
    )
  }

  close(): void {
    this.#isClosed = true
    this.#running.forEach(end)
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async #runOne(endAt: number): Promise<void> {
    const job = String(this.#started++)
    const lines = join(this.#folder, 'lines', job)
    writeFileSync(lines, '')
    const child = this.#start(job)
    this.#running.add(child)
    let read = 0
    let piece: { readonly what: string; readonly until: number } | undefined
    for (let isOver = false; !isOver;) {
      await setTimeout(interval)
      isOver = child.exitCode !== null || child.signalCode !== null
      if (this.#isClosed || Date.now() > endAt) break
      const said = readFileSync(lines, 'utf8').split('\n').slice(0, -1)
      for (const line of said.slice(read)) piece = this.#take(JSON.parse(line) as Line)
      read = said.length
      if (piece !== undefined && Date.now() > piece.until) {
        this.#seen.ends({ id: Number(piece.what), fate: 'endless', why: 'the tests do not end in time' })
        piece = undefined
        break
      }
    }
    end(child)
    this.#running.delete(child)
    if (piece !== undefined && !this.#isClosed && Date.now() < endAt) this.#failed(piece.what)
  }

  #start(job: string): ChildProcess {
    const config = fileURLToPath(new URL('vitest.config.ts', import.meta.url))
    const vitest = join(this.#root, 'node_modules/vitest/vitest.mjs')
    const own = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('VITEST')))
    return spawn(process.execPath, [vitest, 'run', '--root', this.#root, '--config', config], {
      cwd: this.#root,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...own, [planVariable]: this.#folder, [jobVariable]: job },
    })
  }

  /** Notes a line; returns the piece of work that the process has begun, if it is in the middle of one. */
  #take(line: Line): { readonly what: string; readonly until: number } | undefined {
    if (line.does === 'begins') return { what: line.what, until: Date.now() + line.limit }
    if (line.does === 'covers') this.#seen.covers(line.coverage)
    else {
      const { id, killer } = line
      this.#seen.ends({ id, fate: killer === undefined ? 'survived' : 'killed', why: killer ?? 'its tests pass' })
    }
    return undefined
  }

  /** Lets a piece be taken again, at first: what the mutant before left behind can end a process as well. */
  #failed(what: string): void {
    const failures = (this.#failures.get(what) ?? 0) + 1
    this.#failures.set(what, failures)
    if (failures < attempts) rmdirSync(this.#claim(what))
    else
      this.#seen.ends({
        id: Number(what),
        fate: 'doubtful',
        why: 'its tests fail without it as well, or the process ends',
      })
  }

  #claim(what: string): string {
    return join(this.#folder, 'claims', claimOf(what))
  }
}

/** Ends a process and those of its group. */
function end(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // All of them have ended already.
  }
}
