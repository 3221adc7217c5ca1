import type { Tree } from './tree.js'

/** Time of each test file without a mutant, and those that fail as it is. */
export class Baseline {
  readonly #tree: Tree
  readonly #times = new Map<string, number>()
  readonly #failing = new Set<string>()

  constructor(tree: Tree) {
    this.#tree = tree
  }

  async of(tests: readonly string[]): Promise<{ readonly passing: readonly string[]; readonly milliseconds: number }> {
    const unknown = tests.filter((test) => !this.#times.has(test))
    if (unknown.length > 0) {
      const outcome = await this.#tree.outcome(undefined, { tests: unknown, limit: 1_800_000, bail: false })
      for (const test of unknown) this.#times.set(test, outcome?.times[test] ?? 0)
      for (const [test, what] of outcome?.failed ?? unknown.map((one) => [one, 'does not end'])) {
        console.log(`left out, as it fails without a change: ${test} > ${what}`)
        this.#failing.add(test)
      }
    }
    const passing = tests.filter((test) => !this.#failing.has(test))
    return { passing, milliseconds: passing.reduce((sum, test) => sum + (this.#times.get(test) ?? 0), 0) }
  }
}
