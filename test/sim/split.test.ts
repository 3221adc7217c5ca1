import { expect, it } from 'vitest'
import type { Fetch } from '../../src/clients/light/ask-server.js'
import { rounds } from '../support/process/thorough.js'
import { simulateSplit, type SplitTally, type Tampering } from './split.js'

/** What breaks in seeds, and how often each thing happened. */
async function runSplits(from: number, count: number, tampering?: Tampering) {
  const failures: string[] = []
  const sum: SplitTally = { honest: 0, split: 0, accepted: 0, refused: 0, foundOut: 0, lost: 0 }
  for (let seed = from; seed < from + count; seed++) {
    try {
      const tally = await simulateSplit(seed, tampering)
      for (const name of Object.keys(sum) as (keyof SplitTally)[]) sum[name] += tally[name]
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  return { failures, sum }
}

it('two histories of one quorum are found out once a witness saw one of them, and an honest quorum is never accused', async () => {
  const { failures, sum } = await runSplits(1, rounds(15, 300))
  expect(failures.join('\n')).toBe('')
  // That nothing broke says little unless there was reason to.
  for (const [what, count] of Object.entries(sum)) expect(count, what).toBeGreaterThan(0)
})

/** Simulates seeds until one breaks the promise that a pattern names, and hands out all that was said. */
async function found(promise: RegExp, tampering: Tampering): Promise<string> {
  const said: string[] = []
  for (let seed = 1; seed <= 40 && !promise.test(said.at(-1) ?? ''); seed++) {
    said.push(...(await runSplits(seed, 1, tampering)).failures)
  }
  return said.join('\n')
}

it('finds a witness that is not heard', async () => {
  const deaf = (fetch: Fetch): Fetch => {
    return (url, init) => (url.includes('/witness/1/') ? Promise.reject(new TypeError('planted')) : fetch(url, init))
  }
  const promise = /has unwitnessed/
  expect(await found(promise, { fetch: deaf })).toMatch(promise)
})

it('finds a witness that signs what does not follow', async () => {
  const careless: Tampering['witness'] = (signer) => {
    const { sign } = signer
    // It is told that each head follows, and forgets what it signed last.
    signer.sign = (head) => sign.call(signer, head, signer.last?.hash)
    return signer
  }
  // Each witness sees both nodes in turn.
  const promise = /witnesses saw|has unwitnessed|has undefined/
  expect(await found(promise, { witness: careless, seesBoth: true })).toMatch(promise)
})
