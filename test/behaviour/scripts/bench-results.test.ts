import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { comparison, keepResults, keptRows, readResults, type Results } from '../../../scripts/bench/results.js'
import type { Row } from '../../../scripts/bench/report.js'

const row = (name: string, value: number, ratio?: number): Row => {
  return {
    name,
    value,
    unit: '/s',
    ...(ratio === undefined ? {} : { ratio: { value: ratio, against: 'a bare batch' } }),
  }
}

let directory: string
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'didledger-test-'))))
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** The results of repetitions, by way of a file. */
function kept(...repetitions: Row[][]): Results {
  const file = join(directory, 'run.json')
  expect(keepResults(keptRows(repetitions), file)).toBe(file)
  return readResults(file)
}

describe('Results of the bench', () => {
  it('are medians of the repetitions, and keep all', () => {
    const { rows, node } = kept([row('a', 10, 0.5)], [row('a', 30, 0.7)], [row('a', 20, 0.6)])
    expect(node).toBe(process.version)
    expect(rows).toEqual([
      { name: 'a', value: 20, unit: '/s', ratio: { value: 0.6, against: 'a bare batch' }, values: [0.5, 0.7, 0.6] },
    ])
  })

  it('compare by the ratio where there is one, and mark what is more than noise', () => {
    const before = kept([row('a', 100, 0.5), row('b', 10)], [row('a', 200, 0.5), row('b', 30)])
    const after = kept([row('a', 1, 0.75), row('b', 25), row('c', 1)], [row('a', 1, 0.75), row('b', 35), row('c', 1)])
    expect(comparison(before, after).slice(1)).toEqual([
      'a: 0.5 → 0.75 of a bare batch, × 1.50 ± 0.00 *',
      'b: 30 → 35 /s, × 1.17 ± 0.48',
    ])
  })

  it('know no noise of a single run, and say where the machines differ', () => {
    const before = kept([row('a', 10)])
    const after = { ...kept([row('a', 20)]), machine: 'another' }
    expect(comparison(before, after).slice(1)).toEqual([
      'the machines differ: only ratios compare',
      'a: 10 → 20 /s, × 2.00 noise unknown',
    ])
  })
})
