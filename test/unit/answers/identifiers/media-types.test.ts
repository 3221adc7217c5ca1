import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  earlierDereferencingType,
  earlierResolutionType,
  mediaTypes,
  negotiate,
  resolutionType,
} from '../../../../src/answers/identifiers/media-types.js'

const chosen = (accept: string | undefined, first: (typeof mediaTypes)[number] = resolutionType) =>
  negotiate(accept, mediaTypes, first)

describe('negotiate', () => {
  test.each([
    [undefined, 'application/did-resolution'],
    ['', 'application/did-resolution'],
    ['*/*', 'application/did-resolution'],
    ['application/*', 'application/did-resolution'],
    ['text/*', 'text/uri-list'],
    ['application/json, application/did', 'application/did'],
    ['application/json;q=0.9, application/did;q=0.8', 'application/json'],
    ['application/did;q=0.8, */*;q=0.8', 'application/did'],
    ['application/*;q=0.5, text/uri-list;q=0.5', 'text/uri-list'],
    ['*/*, application/did-resolution;q=0', 'application/did'],
    ['application/did;q=0, application/*', 'application/did-resolution'],
    ['APPLICATION/DID;Q=0.5', 'application/did'],
    ['application/json; charset=utf-8 ; q=1.000', 'application/json'],
    ['application/ld+json;profile="a,b;q=0"', 'application/ld+json'],
    ['application/json;q=0.001, application/did;q=0.0', 'application/json'],
    [' , application/did ,', 'application/did'],
    ['text/html', undefined],
    ['application/did;q=0', undefined],
    ['*/*;q=0', undefined],
    ['application/did;q=.0', undefined],
    ['text/html;q=0.5, application', undefined],
  ])('%s: %s', (accept, type) => {
    expect(chosen(accept)).toBe(type)
  })

  // A hint refuses nothing where it is malformed.
  test.each([
    ['text/html, image/gif, image/jpeg, */*; q=.2', 'application/did-resolution'],
    ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 'application/did-resolution'],
    ['*', 'application/did-resolution'],
    ['application/did;q=.2, application/json;q=.3', 'application/json'],
    ['application/did;q=1., application/json;q=0.99999', 'application/did'],
    ['application/did;q=0.1234, application/json;q=0.1236', 'application/json'],
    ['application/did;q=0.00001', 'application/did'],
    ['application/did;q=2, application/json;q=1', 'application/did'],
    ['application/did;q="0.5", application/json;q=0.6', 'application/json'],
    ['application/did;q=, application/json;q=0.9', 'application/did'],
    ['application/did;q, application/json;q=0.9', 'application/did'],
    ['application/did;q=high, application/json;q=-1', 'application/did'],
    ['application', 'application/did-resolution'],
    ['*/json', 'application/did-resolution'],
    ['application/json application/did', 'application/did-resolution'],
    ['"application/did', 'application/did-resolution'],
    ['q=0.5', 'application/did-resolution'],
    [';;,', 'application/did-resolution'],
  ])('%s: %s, though it is malformed', (accept, type) => {
    expect(chosen(accept)).toBe(type)
  })

  const profile = 'https://w3id.org/did-resolution'

  test.each([
    `application/ld+json;profile="${profile}"`,
    `application/ld+json; profile="${profile}"; q=0.5, */*;q=0.1`,
    `Application/LD+JSON;Profile=${profile}`,
    `application/ld+json;profile="https://www.w3.org/ns/json-ld#compacted ${profile}"`,
  ])('%s: the result of resolution as it was asked for before', (accept) => {
    expect(chosen(accept)).toBe(earlierResolutionType)
  })

  it('gives that to nobody who does not name it', () => {
    for (const accept of [`application/ld+json;profile="${profile}/v1"`, 'application/ld+json', 'application/*']) {
      expect(chosen(accept)).not.toBe(earlierResolutionType)
    }
    expect(chosen(`application/ld+json;profile="${profile}";q=0, application/ld+json`)).toBe('application/ld+json')
  })

  it('gives what comes first by default only to the full wildcard', () => {
    expect(chosen('*/*', 'application/did-url-dereferencing')).toBe('application/did-url-dereferencing')
    expect(chosen('application/*', 'application/did-url-dereferencing')).toBe('application/did-resolution')
  })

  const member = fc
    .tuple(
      fc.constantFrom(...mediaTypes, 'text/html', 'application/*', 'text/*', '*/*'),
      fc.integer({ min: 0, max: 10 }),
    )
    .map(([type, tenths]) => ({ type, tenths, text: `${type};q=${tenths === 10 ? '1' : `0.${tenths}`}` }))
  const members = fc.uniqueArray(member, { minLength: 1, maxLength: 8, selector: ({ type }) => type })

  it('takes what the most specific members weigh most, whatever their order', () => {
    fc.assert(
      fc.property(members, (list) => {
        const weightOf = (type: string) => {
          const names =
            type === earlierResolutionType || type === earlierDereferencingType
              ? [type]
              : [type, `${type.split('/')[0]}/*`, '*/*']
          const found = names.map((name) => list.find((one) => one.type === name)).find((one) => one !== undefined)
          return found?.tenths ?? 0
        }
        const type = chosen(list.map(({ text }) => text).join(', '))
        const best = Math.max(...mediaTypes.map(weightOf))
        if (best === 0) expect(type).toBeUndefined()
        else expect(weightOf(type as string)).toBe(best)
        expect(
          chosen(
            list
              .map(({ text }) => text)
              .reverse()
              .join(','),
          ),
        ).toBe(type)
      }),
    )
  })

  it('takes any text, in a time that grows with its length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        const type = chosen(text)
        expect(type === undefined || mediaTypes.includes(type)).toBe(true)
      }),
    )
    for (const text of [',', ';', '"\\', 'a/b;q=0.', '*/*,']) chosen(text.repeat(16_384 / text.length))
  })
})
