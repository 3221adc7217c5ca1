import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Numbered } from './switches.js'

/** Files by which the parent tells its test processes what to do, and they tell it what came of it. */

/** Name of the environment variable that names the folder of the plan. */
export const planVariable = 'DIDLEDGER_MUTANTS'
/** Name of the environment variable that names the lines of a process. */
export const jobVariable = 'DIDLEDGER_MUTANTS_JOB'

/** Tests of a file that meet a mutant: numbers in the order of the file, or all. */
export interface Meeting {
  readonly file: string
  readonly tests: readonly number[] | 'all'
  /** Milliseconds that they take without a mutant. */
  readonly milliseconds: number
}

/** One mutant and the tests that it meets, those first that say most about it in the least time. */
export interface Trial {
  readonly id: number
  /** Whether the modules are loaded anew, with the mutant on. */
  readonly reloads: boolean
  readonly meetings: readonly Meeting[]
}

export interface Plan {
  readonly mutants: readonly Numbered[]
  /** Test files of which is written down which mutants each test meets; or trials. */
  readonly files: readonly string[]
  readonly trials: readonly Trial[]
}

/** A line of a test process. Each begins one piece of its work, or ends it. */
export type Line =
  | { readonly does: 'begins'; readonly what: string; readonly limit: number }
  | { readonly does: 'covers'; readonly coverage: FileCoverage }
  | { readonly does: 'ends'; readonly id: number; readonly killer?: string }

/** Mutants that one test file meets. */
export interface FileCoverage {
  readonly file: string
  /** Name of a test that fails without a mutant. */
  readonly failed?: string
  /** Milliseconds of the file without its tests, and of each test. */
  readonly milliseconds: number
  readonly testMilliseconds: readonly number[]
  readonly names: readonly string[]
  /** Mutants that loading, hooks or several tests at once meet. */
  readonly whole: readonly number[]
  readonly tests: readonly (readonly number[])[]
}

export function readPlan(folder: string): Plan {
  return JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as Plan
}

/** The part of a mutant's key in the folder of what is taken. */
export function claimOf(what: number | string): string {
  return String(what).replaceAll('/', '-')
}
