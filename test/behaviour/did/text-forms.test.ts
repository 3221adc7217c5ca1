import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeBase64url,
  decodedLength,
  decodeSignature,
  encodeBase64url,
} from '../../../src/identity/did/base64url.js'
import { formatDate, parseDate } from '../../../src/identity/did/date.js'
import { absoluteId, didPart, isDerivedIdentifier, isDid, relativeId } from '../../../src/identity/did/identifier.js'
import { runs } from '../../support/builders/arbitraries.js'

describe('base64url', () => {
  it('is the inverse of encoding, and of one text only', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
        const text = encodeBase64url(bytes)
        expect(new Uint8Array(decodeBase64url(text) as Uint8Array)).toEqual(bytes)
        expect(decodedLength(text.length)).toBe(bytes.length)
      }),
      runs,
    )
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'AQgwz09-_=+/ \n'), maxLength: 12 }), (text) => {
        const bytes = decodeBase64url(text)
        if (bytes !== undefined) expect(encodeBase64url(bytes)).toBe(text)
      }),
      runs,
    )
  })

  it.each(['', 'A', 'AAAAA', 'AA==', 'AA=', 'A+', 'A/', 'AA\n', ' AA', 'AB', 'AAB', 'A.A', 'Ä'])(
    '%j is refused',
    (text) => {
      expect(decodeBase64url(text)).toBeUndefined()
    },
  )

  it.each([
    ['AA', 1],
    ['AQ', 1],
    ['AAA', 2],
    ['AAE', 2],
    ['AAAB', 3],
    ['-_-_', 3],
  ] as const)('%j has %i bytes', (text, n) => {
    expect(decodeBase64url(text)).toHaveLength(n)
  })

  it('a signature has 86 characters and four zero bits at its end', () => {
    expect(decodeSignature('A'.repeat(86))).toHaveLength(64)
    expect(decodeSignature(`${'A'.repeat(85)}Q`)).toHaveLength(64)
    for (const text of [
      'A'.repeat(85),
      'A'.repeat(87),
      'A'.repeat(88),
      `${'A'.repeat(86)}==`,
      `${'A'.repeat(85)}B`,
      '',
    ]) {
      expect(decodeSignature(text)).toBeUndefined()
    }
  })
})

describe('dates', () => {
  it('are whole seconds of the years 1970 to 9999', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31, 23, 59, 59) / 1000 }), (seconds) => {
        expect(parseDate(formatDate(seconds))).toBe(seconds)
      }),
      runs,
    )
    expect(parseDate('1970-01-01T00:00:00Z')).toBe(0)
    expect(parseDate('9999-12-31T23:59:59Z')).toBe(253402300799)
    expect(parseDate('2028-02-29T12:00:00Z')).toBe(Date.UTC(2028, 1, 29, 12) / 1000)
  })

  it('are what a calendar has, whatever the digits are', () => {
    const two = fc.integer({ min: 0, max: 99 })
    const year = fc.oneof(fc.integer({ min: 1960, max: 2110 }), fc.integer({ min: 0, max: 9999 }))
    fc.assert(
      fc.property(
        year,
        fc.tuple(fc.nat(14), fc.nat(33), fc.nat(25), two, two),
        (y, [month, day, hour, minute, second]) => {
          const digits = (value: number, length = 2) => String(value).padStart(length, '0')
          const [date, time] = [
            [digits(y, 4), ...[month, day].map((one) => digits(one))],
            [hour, minute, second],
          ]
          const text = `${date.join('-')}T${time.map((one) => digits(one)).join(':')}Z`
          const seconds = Date.UTC(y, month - 1, day, hour, minute, second) / 1000
          // What is beyond its range carries into the next field, and comes back as another text.
          const isDate = y >= 1970 && formatDate(seconds) === text
          expect(parseDate(text)).toBe(isDate ? seconds : undefined)
        },
      ),
      { ...runs, numRuns: 2000 },
    )
  })

  it.each([
    '1969-12-31T23:59:59Z',
    '0099-01-01T00:00:00Z',
    '10000-01-01T00:00:00Z',
    '2027-02-29T00:00:00Z',
    '2027-02-30T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2027-04-31T00:00:00Z',
    '2027-00-01T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-01-00T00:00:00Z',
    '2027-01-32T00:00:00Z',
    '2027-01-01T24:00:00Z',
    '2027-01-01T00:60:00Z',
    '2016-12-31T23:59:60Z',
    '2027-01-01T00:00:00z',
    '2027-01-01t00:00:00Z',
    '2027-01-01T00:00:00.0Z',
    '2027-01-01T00:00:00',
    '2027-01-01T00:00:00+00:00',
    '2027-01-01',
    '2027-1-1T00:00:00Z',
    ' 2027-01-01T00:00:00Z',
    '2027-01-01T00:00:00Z\n',
    '２027-01-01T00:00:00Z',
    '',
  ])('%j is none', (text) => {
    expect(parseDate(text)).toBeUndefined()
  })
})

describe('identifiers', () => {
  const chain = { method: 'elastos', chain: true }
  const library = { method: 'elastos', chain: false }
  const did = 'did:elastos:imUUPBfrZ1yZx6nWXe6LNN59VeX2E6PPKj'

  it('on a chain have a right checksum and the prefix of DIDs', () => {
    expect(isDid(did, chain)).toBe(true)
    expect(isDid(did, { ...chain, method: 'ledger' })).toBe(false)
    for (const wrong of [
      did.replace('imUU', 'imUV'),
      did.slice(0, -1),
      `${did}j`,
      // A standard address is well-formed, but no DID.
      'did:elastos:EJuHg2CdT9a9bqdKUAtbrAn6DGwXtKA6uh',
      'did:elastos:foobar',
      'did:elastos:',
      'DID:elastos:imUUPBfrZ1yZx6nWXe6LNN59VeX2E6PPKj',
      `${did}#primary`,
      ` ${did}`,
      '',
    ]) {
      expect(isDid(wrong, chain)).toBe(false)
    }
    expect(isDerivedIdentifier('imUUPBfrZ1yZx6nWXe6LNN59VeX2E6PPKj')).toBe(true)
    expect(isDerivedIdentifier('EJuHg2CdT9a9bqdKUAtbrAn6DGwXtKA6uh')).toBe(false)
  })

  it('in the library may be chosen names', () => {
    expect(isDid('did:elastos:foo-bar.1_', library)).toBe(true)
    for (const wrong of [
      'did:elastos:',
      'did:elastos:a b',
      'did:elastos:a/b',
      'did:elastos:é',
      `did:elastos:${'a'.repeat(245)}`,
    ]) {
      expect(isDid(wrong, library)).toBe(false)
    }
    expect(isDid(`did:elastos:${'a'.repeat(244)}`, library)).toBe(true)
  })

  it('references are completed and shortened', () => {
    const other = 'did:elastos:iXcRhYB38gMt1phi5JXJMjeXL2TL8cg58y'
    expect(absoluteId('#primary', did, chain)).toBe(`${did}#primary`)
    expect(absoluteId(`${did}#primary`, did, chain)).toBe(`${did}#primary`)
    expect(absoluteId(`${other}#key`, did, chain)).toBe(`${other}#key`)
    expect(relativeId(`${did}#primary`, did)).toBe('#primary')
    expect(relativeId(`${other}#key`, did)).toBe(`${other}#key`)
    expect(didPart(`${other}#key`)).toBe(other)
  })

  it.each(['a', 'A-Z', '.', "._:@!$'()*+,;=~-", '0'.repeat(128)])('the fragment %s is one', (fragment) => {
    expect(absoluteId(`#${fragment}`, did, chain)).toBe(`${did}#${fragment}`)
  })

  it.each(['', 'a b', 'a#b', 'a/b', 'a?b', 'é', 'a"b', 'a&b', 'a%20b', '0'.repeat(129), 'a\n'])(
    'the fragment %j is none',
    (fragment) => {
      expect(absoluteId(`#${fragment}`, did, chain)).toBeUndefined()
      expect(absoluteId(`${did}#${fragment}`, did, chain)).toBeUndefined()
    },
  )

  it.each(['primary', did, `${did}/path#primary`, `${did.toUpperCase()}#a`, 'did:elastos:foo#a', 'did:ledger:foo#a'])(
    '%s refers to nothing on a chain',
    (reference) => {
      expect(absoluteId(reference, did, chain)).toBeUndefined()
    },
  )

  it('no id is longer than 256 bytes', () => {
    const name = `did:elastos:${'a'.repeat(200)}`
    expect(absoluteId(`#${'b'.repeat(43)}`, name, library)).toHaveLength(256)
    expect(absoluteId(`#${'b'.repeat(44)}`, name, library)).toBeUndefined()
  })
})
