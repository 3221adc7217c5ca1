import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PathRow } from '../../../../../src/answers/api/http/path-row.js'
import { PathTable, rowOf } from '../../../../../src/answers/api/http/path-table.js'
import { runs } from '../../../../support/builders/arbitraries.js'

const paths = [
  '/',
  '/healthz',
  '/block/:hash',
  '/block/height',
  '/block/:hash/bits',
  '/:any/fixed/:one/:two',
  '/a/b/:c',
  '/a/:b/x',
  '/far/one',
  '/far/:two/x',
  '/far/*',
]
const rows = paths.map((path) => ({ path, methods: ['GET'] })) as unknown as PathRow[]
const table = new PathTable(rows, 20)
/** Path and values at a URL. */
const at = (url: string) => {
  const found = table.find(url)
  return found && [found.place.rows[0]?.path, found.segments]
}

describe('a path', () => {
  it.each<[string, unknown]>([
    ['/', ['/', {}]],
    ['/?a=/healthz', ['/', {}]],
    ['/healthz#x', ['/healthz', {}]],
    ['/healthz/', undefined],
    ['/Healthz', undefined],
    ['//healthz', undefined],
    ['/%68ealthz', ['/healthz', {}]],
    ['/block/height', ['/block/height', {}]],
    ['/block/heights', ['/block/:hash', { hash: 'heights' }]],
    ['/block/height/bits', ['/block/:hash/bits', { hash: 'height' }]],
    ['/block/', ['/block/:hash', { hash: '' }]],
    ['/block/a%2Fb', ['/block/:hash', { hash: 'a/b' }]],
    ['/block/a%3Fb%23c%25d', ['/block/:hash', { hash: 'a?b#c%d' }]],
    ['/block/%C3%BC', ['/block/:hash', { hash: 'ü' }]],
    ['/block/%ff', null],
    ['/block/%', null],
    ['/block/a?%ff', ['/block/:hash', { hash: 'a' }]],
    ['/a/b/x', ['/a/b/:c', { c: 'x' }]],
    ['/a/c/x', ['/a/:b/x', { b: 'c' }]],
    ['/a/fixed/1/2', ['/:any/fixed/:one/:two', { any: 'a', one: '1', two: '2' }]],
    ['http://node.example:1/block/x', ['/block/:hash', { hash: 'x' }]],
    ['http://node.example', ['/', {}]],
    ['http://node.example?a=b', ['/', {}]],
    ['*', undefined],
    ['*/healthz', undefined],
    ['a/healthz', undefined],
    ['/far', undefined],
    ['/far/', ['/far/*', {}]],
    ['/far/one', ['/far/one', {}]],
    ['/far/one/two/three', ['/far/*', {}]],
    ['/far/one/x', ['/far/:two/x', { two: 'one' }]],
    ['/far/two/y', ['/far/*', {}]],
    ['/far/did:x:%2f?a=b', ['/far/*', {}]],
    ['/far/%ff', null],
    [`/far/${'x'.repeat(99)}/x`, ['/far/*', {}]],
    ['/__proto__/fixed/constructor/x', ['/:any/fixed/:one/:two', { any: '__proto__', one: 'constructor', two: 'x' }]],
  ])('%s is found, or not', (url, expected) => {
    expect(at(url)).toEqual(expected)
  })

  it('has named segments of a bounded length', () => {
    expect(at(`/block/${'x'.repeat(20)}`)).toEqual(['/block/:hash', { hash: 'x'.repeat(20) }])
    expect(at(`/block/${'x'.repeat(21)}`)).toBeUndefined()
    expect(at(`/block/${'%41'.repeat(20)}`)).toEqual(['/block/:hash', { hash: 'A'.repeat(20) }])
  })

  it('of any values is found with them', () => {
    const value = fc.string({ unit: 'binary', minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(value, value, value, (any, one, two) => {
        const url = `/${[any, 'fixed', one, two].map(encodeURIComponent).join('/')}?x=${two}`
        expect(table.find(url)?.segments).toEqual({ any, one, two })
      }),
      runs,
    )
  })
})

it('a place that cannot be decoded is known as far as it can be read', () => {
  expect(table.nearest('/block/%ff')?.rows[0]?.path).toBe('/block/:hash')
  expect(table.nearest('/far/a/%ff')?.rows[0]?.path).toBe('/far/*')
  expect(table.nearest('/nothing/%ff')).toBeUndefined()
})

it('a row of GET takes HEAD', () => {
  const place = table.find('/healthz')?.place
  expect([place && rowOf(place, 'HEAD'), place && rowOf(place, 'POST')]).toEqual([rows[1], undefined])
})
