import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joined } from '../../../../src/base/primitives/bytes.js'
import { headersFile, type MirrorHeader, readHeadersFile } from '../../../../src/identity/proofs/mirror-headers.js'

const part = fc.uint8Array({ maxLength: 90 })
const headers: fc.Arbitrary<readonly MirrorHeader[]> = fc.array(fc.record({ header: part, confirm: part }), {
  maxLength: 16,
})
const plain = (list: readonly MirrorHeader[] | undefined) =>
  list?.map(({ header, confirm }) => [[...header], [...confirm]])

describe('headers as files', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(headers, (list) => {
        expect(plain(readHeadersFile(headersFile(list), 16))).toEqual(plain(list))
      }),
    )
  })

  it('are none when cut within a header, and fewer when cut between two', () => {
    fc.assert(
      fc.property(headers, (list) => {
        const file = headersFile(list)
        const ends = list.map((_, i) => headersFile(list.slice(0, i)).length)
        for (let length = 0; length < file.length; length++) {
          const read = readHeadersFile(file.slice(0, length), 16)
          const whole = ends.indexOf(length)
          if (whole < 0) expect(read).toBeUndefined()
          else expect(plain(read)).toEqual(plain(list.slice(0, whole)))
        }
      }),
      { numRuns: 30 },
    )
  })

  it('are none with up to seven bytes more, or with more headers than asked for', () => {
    fc.assert(
      fc.property(headers, fc.uint8Array({ minLength: 1, maxLength: 7 }), (list, more) => {
        expect(readHeadersFile(Uint8Array.of(...headersFile(list), ...more), 16)).toBeUndefined()
        if (list.length > 0) expect(readHeadersFile(headersFile(list), list.length - 1)).toBeUndefined()
        expect(readHeadersFile(headersFile(list), list.length)).toBeDefined()
      }),
    )
  })

  it('with lengths that no memory has are none at once', () => {
    expect(readHeadersFile(joined(2 ** 32 - 1), 16)).toBeUndefined()
    expect(readHeadersFile(joined(0, 2 ** 32 - 1), 16)).toBeUndefined()
  })
})
