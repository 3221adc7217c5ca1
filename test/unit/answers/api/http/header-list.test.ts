import fc from 'fast-check'
import { expect, it } from 'vitest'
import { HeaderList } from '../../../../../src/answers/api/http/header-list.js'

const headers = fc.dictionary(fc.constantFrom('etag', 'vary', 'allow', 'connection', 'age'), fc.string())

it('has names, values and order of an object that is spread over another', () => {
  fc.assert(
    fc.property(headers, headers, (first, second) => {
      const list = HeaderList.of(first)
      const both = list.with(second)
      expect(both.items).toEqual(Object.entries({ ...first, ...second }).flat())
      expect(both.get('etag')).toBe({ ...first, ...second }['etag'])
      expect(list.items).toEqual(Object.entries(first).flat())
      list.setAll(second)
      expect(list).toEqual(both)
    }),
  )
})

it('keeps the list that it was made from', () => {
  const items = ['etag', '"a"']
  new HeaderList(items).set('etag', '"b"')
  expect(items).toEqual(['etag', '"a"'])
})
