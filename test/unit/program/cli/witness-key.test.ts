import { existsSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { makeWitnessKey } from '../../../../src/program/cli/witness-key.js'
import { Workbench } from '../../../support/process/workbench.js'

const bench = new Workbench()
afterAll(() => bench.close())
const random = { bytes: (length: number) => new Uint8Array(length).fill(7) }

it('a witness key has its state beside it, so it does not go to standard output', () => {
  expect(() => makeWitnessKey('-', 'witness.example/w1', random)).toThrow(/^- is standard output/)
  expect(existsSync('-.state')).toBe(false)
  const file = bench.path('witness.key')
  makeWitnessKey(file, 'witness.example/w1', random)
  expect([file, `${file}.state`].map(existsSync)).toEqual([true, true])
})
