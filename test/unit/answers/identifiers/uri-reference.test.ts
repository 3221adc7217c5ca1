import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { locationOf, relativeReference, resolveReference } from '../../../../src/answers/identifiers/uri-reference.js'

const base = 'http://a/b/c/d;p?q'

describe('resolveReference', () => {
  // The examples of RFC 3986 §5.4.
  test.each([
    ['g:h', 'g:h'],
    ['g', 'http://a/b/c/g'],
    ['./g', 'http://a/b/c/g'],
    ['g/', 'http://a/b/c/g/'],
    ['/g', 'http://a/g'],
    ['//g', 'http://g'],
    ['?y', 'http://a/b/c/d;p?y'],
    ['g?y', 'http://a/b/c/g?y'],
    ['#s', 'http://a/b/c/d;p?q#s'],
    ['g#s', 'http://a/b/c/g#s'],
    ['g?y#s', 'http://a/b/c/g?y#s'],
    [';x', 'http://a/b/c/;x'],
    ['g;x', 'http://a/b/c/g;x'],
    ['g;x?y#s', 'http://a/b/c/g;x?y#s'],
    ['', 'http://a/b/c/d;p?q'],
    ['.', 'http://a/b/c/'],
    ['./', 'http://a/b/c/'],
    ['..', 'http://a/b/'],
    ['../', 'http://a/b/'],
    ['../g', 'http://a/b/g'],
    ['../../..', 'http://a/'],
    ['../../../', 'http://a/'],
    ['../../g', 'http://a/g'],
    ['../../../g', 'http://a/g'],
    ['../../../../g', 'http://a/g'],
    ['/./g', 'http://a/g'],
    ['/../g', 'http://a/g'],
    ['g.', 'http://a/b/c/g.'],
    ['.g', 'http://a/b/c/.g'],
    ['g..', 'http://a/b/c/g..'],
    ['..g', 'http://a/b/c/..g'],
    ['./../g', 'http://a/b/g'],
    ['./g/.', 'http://a/b/c/g/'],
    ['g/./h', 'http://a/b/c/g/h'],
    ['g/../h', 'http://a/b/c/h'],
    ['g;x=1/./y', 'http://a/b/c/g;x=1/y'],
    ['g;x=1/../y', 'http://a/b/c/y'],
    ['g?y/./x', 'http://a/b/c/g?y/./x'],
    ['g?y/../x', 'http://a/b/c/g?y/../x'],
    ['g#s/./x', 'http://a/b/c/g#s/./x'],
    ['g#s/../x', 'http://a/b/c/g#s/../x'],
    ['http:g', 'http:g'],
  ])('%s: %s', (reference, uri) => {
    expect(resolveReference(reference, base)).toBe(uri)
  })

  it('appends to a base without a path', () => {
    expect(resolveReference('g', 'http://a')).toBe('http://a/g')
    expect(resolveReference('?y', 'http://a')).toBe('http://a?y')
  })

  it('agrees with the URLs of browsers on paths and queries', () => {
    const part = fc.constantFrom('.', '..', 'x', 'y.z', '', '%20', '~')
    const path = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'))
    const query = fc.option(fc.constantFrom('a', 'b/../c', ''), { nil: undefined })
    fc.assert(
      fc.property(path, query, path, (reference, asked, below) => {
        const text = `${reference}${asked === undefined ? '' : `?${asked}`}`
        // Neither an authority, nor an empty query, which browsers drop in some places.
        fc.pre(!text.startsWith('//') && asked !== '')
        const from = new URL(`http://host.example/${below}?old`).href
        expect(resolveReference(text, from)).toBe(new URL(text, from).href)
      }),
    )
  })
})

test('relativeReference', () => {
  const form = new RegExp(relativeReference)
  for (const text of ['', 'a', '/a', '//host/a', '?a', '#a', 'a/b:c', './a:b', 'a%20b', 'a?b#c']) {
    expect([text, form.test(text)]).toEqual([text, true])
  }
  for (const text of ['http://a', 'a:b', ':b', 'a b', 'a%2', 'a%zz', 'ä', '#a#b', 'a\\b', 'a\nb', '<a>', '"']) {
    expect([text, form.test(text)]).toEqual([text, false])
  }
})

describe('locationOf', () => {
  it('is an absolute http or https URI, with the fragment appended', () => {
    for (const uri of ['http://a', 'HTTPS://u@a:1/b?c', 'https://[::1]:8/', 'https://a.example/%C3%A4']) {
      expect(locationOf(uri, undefined)).toBe(uri)
      expect(locationOf(uri, 'f')).toBe(`${uri}#f`)
      expect(locationOf(`${uri}#g`, undefined)).toBe(`${uri}#g`)
      expect(locationOf(`${uri}#g`, 'f')).toBeUndefined()
    }
  })

  test.each([
    'mailto:a@b',
    'javascript:alert(1)',
    'data:text/html,x',
    '//a/b',
    '/a',
    '',
    'http:a',
    'http:///a',
    'http://',
    'https://a b/',
    'https://a/\r\nSet-Cookie: x',
    'https://a/\u0000',
    'https://ä.example/',
    'https://a/%zz',
    'https://a/#b#c',
    'https://[::1/',
    'https://a:b/',
  ])('is not %s', (uri) => {
    expect(locationOf(uri, undefined)).toBeUndefined()
  })

  it('is visible ASCII, whatever the endpoint', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }))
    fc.assert(
      fc.property(text, (rest) => {
        expect(locationOf(`https://a.example/${rest}`, undefined) ?? '').toMatch(/^[\x21-\x7e]*$/)
      }),
    )
  })
})
