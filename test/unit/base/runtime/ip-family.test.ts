import { isIP } from 'node:net'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { familyOf } from '../../../../src/base/runtime/ip-family.js'

const texts = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.domain(),
  fc.ipV6().map((address) => `${address}%eth0`),
  fc.tuple(fc.ipV4(), fc.nat(70_000)).map(([address, port]) => `${address}:${port}`),
  fc.string({ unit: fc.constantFrom('0', '1', 'f', ':', '.', '%', '[', ']', ' '), maxLength: 12 }),
)

it('is what Node says of every text', () => {
  for (const text of ['127.0.0.1', '::1', '::', '0.0.0.0', '::ffff:1.2.3.4', 'localhost', '', ':', '1.2.3.4.5']) {
    expect([text, familyOf(text)]).toEqual([text, isIP(text)])
  }
  fc.assert(fc.property(texts, (text) => familyOf(text) === isIP(text)))
})
