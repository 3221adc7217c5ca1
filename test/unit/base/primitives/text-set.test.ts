import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextSet } from '../../../../src/base/primitives/text-set.js'
import { runs } from '../../../support/builders/arbitraries.js'

describe('A set of few texts', () => {
  it('answers like a Set, whatever is added and deleted', () => {
    const change = fc.record({ add: fc.boolean(), text: fc.constantFrom('', 'a', 'b', 'c') })
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const [few, usual] = [new TextSet(), new Set<string>()]
        for (const { add, text } of changes) {
          if (add) {
            expect(few.add(text)).toBe(!usual.has(text))
            usual.add(text)
          } else {
            expect(few.delete(text)).toBe(usual.delete(text))
          }
          expect(few.size).toBe(usual.size)
        }
      }),
      runs,
    )
  })
})
