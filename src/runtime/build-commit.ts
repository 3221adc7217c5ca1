import { readFileSync } from 'node:fs'

/** The commit that the program was built from; undefined where it runs from its sources, or was built outside of a checkout. */
export function buildCommit(): string | undefined {
  try {
    // scripts/bundle.ts writes it into dist, one folder up from dist/cli as from dist/runtime.
    const text = readFileSync(new URL('../commit.txt', import.meta.url), 'utf8').trim()
    return /^[0-9a-f]{40}$/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}
