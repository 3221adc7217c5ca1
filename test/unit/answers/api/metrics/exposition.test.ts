import { Gauge, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { exposition } from '../../../../../src/answers/api/metrics/exposition.js'
import { parseMetrics, sampleOf } from '../../../../support/assert/prometheus.js'

it('writes figures that are not known as the format has them, and changes nothing else', async () => {
  const registers = [new Registry()]
  const help = 'Ends in Nan'
  new Gauge({ name: 'a_bytes', help, registers }).set(NaN)
  const labelled = new Gauge({ name: 'b_bytes', help, labelNames: ['of'], registers })
  labelled.set({ of: 'x Nan' }, NaN)
  labelled.set({ of: 'y' }, -Infinity)
  const families = parseMetrics(await exposition(registers[0] as Registry))
  expect([...families.values()].map((family) => family.help)).toEqual([help, help])
  expect(sampleOf(families, 'a_bytes')).toBeNaN()
  expect(sampleOf(families, 'b_bytes', { of: 'x Nan' })).toBeNaN()
  expect(sampleOf(families, 'b_bytes', { of: 'y' })).toBe(-Infinity)
})
