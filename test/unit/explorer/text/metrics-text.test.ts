import { expect, it } from 'vitest'
import { readFigures, sumOf } from '../../../../src/explorer/text/metrics-text.js'

it('reads figures, sums them over labels, and leaves out what is none', () => {
  const figures = readFigures(
    '# HELP a Help.\n# TYPE a counter\na{x="1"} 2\na{x="2"} 3.5\nab 7\nbad\nnan NaN\ninf +Inf\n<script> 1\n',
  )
  expect([sumOf(figures, 'a'), sumOf(figures, 'a{x="2"}'), sumOf(figures, 'ab'), sumOf(figures, 'b')]).toEqual([
    5.5,
    3.5,
    7,
    undefined,
  ])
  expect(figures.size).toBe(3)
})
