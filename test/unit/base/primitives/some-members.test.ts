import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arePlain, someMembers } from '../../../../src/base/primitives/some-members.js'

const read = (json: string, names: readonly string[]) => someMembers(Buffer.from(json), names)?.members

describe('some members of an object', () => {
  it('are what JSON.parse reads of them, whatever else there is', () => {
    const name = fc.oneof(fc.constantFrom('id', 'service', 'a b', 'ü', '"', '\\', '', ',"id":'), fc.string())
    const within = fc.record({ id: fc.jsonValue(), service: fc.array(fc.record({ id: fc.constant(1) })) })
    const json = fc.dictionary(name, fc.oneof(fc.jsonValue({ maxDepth: 4 }), within), { maxKeys: 6 })
    const wanted = fc.uniqueArray(fc.constantFrom<string>('id', 'service', 'a b', 'absent'), { minLength: 1 })
    fc.assert(
      fc.property(json, wanted, (object, names) => {
        const text = JSON.stringify(object)
        const parsed = JSON.parse(text) as Record<string, unknown>
        const found = read(text, names)
        // An escape in a name before them, or no member at all: all of it has to be parsed.
        if (found === undefined) {
          expect(text === '{}' || Object.keys(parsed).some((key) => JSON.stringify(key).includes('\\'))).toBe(true)
          return
        }
        const picked = Object.entries(parsed).filter(([key]) => names.includes(key))
        expect(found).toEqual(Object.fromEntries(picked))
      }),
      { numRuns: 3000 },
    )
  })

  it('are found behind texts, names and values that look like them', () => {
    expect(read('{"a":",\\"id\\":1","b":{"id":2},"c":["id",{"id":3}],"id":4,"z":{"id":5}}', ['id'])).toEqual({ id: 4 })
    expect(read('{"a":"\\\\","id":"\\\\\\"","z":1}', ['id', 'z'])).toEqual({ id: '\\"', z: 1 })
  })

  it('are found at the end without a look at what is before, unless they may be of an object within', () => {
    const before = `{"a":"${'x'.repeat(200)}","\\"":1,`
    expect(read(`${before}"id":{"id":1},"z":2}`, ['id'])).toEqual({ id: { id: 1 } })
    expect(read(`${before}"id":1,"service":[{"z":1,"id":2}]}`, ['service', 'id'])).toEqual({
      ...{ id: 1, service: [{ z: 1, id: 2 }] },
    })
    // The first of them is in an object within: the walk through all names comes to the escape.
    expect(read(`${before}"b":[{"z":1,"id":2}],"id":3}`, ['id'])).toBeUndefined()
    const plain = before.replace('\\"', 'y')
    expect(read(`${plain}"b":[{"z":1,"id":2}],"id":3}`, ['id'])).toEqual({ id: 3 })
    expect(read(`${plain}"b":{"z":1,"id":2}}`, ['id'])).toEqual({})
    expect(read(`${plain}"id":[{"z":1,"service":2}]}`, ['service', 'id'])).toEqual({ id: [{ z: 1, service: 2 }] })
  })

  it('are not looked for where their names are nowhere', () => {
    expect(someMembers(Buffer.from('{"a":1,"b":2}'), ['id'])).toEqual({ members: {}, parsed: 0 })
  })

  it('count the bytes that were parsed, and end where all are found', () => {
    const json = `{"a":"${'x'.repeat(100)}","id":1,"z":${'['.repeat(50)}`
    expect(someMembers(Buffer.from(json), ['id'])).toEqual({ members: { id: 1 }, parsed: 2 })
  })

  it.each([
    '',
    '{',
    '{}',
    '[]',
    '1',
    '{"a"',
    '{ "a":1}',
    '{"a":{"b":1,"id":1},',
    '{"a":{"b":1,"id":1},"c"',
    '{"a":{"b":1,"id":1},"c":',
    '{"a":{"b":1,"id":1},"c":1',
    '{"a":{"b":1,"id":1},"c":1,',
    '{"a":{"b":1,"id":1},"c":1]',
    '{"a":{"b":1,"id":1},"c":[1}',
    '{"a":{"b":1,"id":1},"c":1}}',
    '{"a":{"b":1,"id":1},"c":1,}',
    '{"a":{"b":1,"id":1},"c":"',
    '{"a":{"b":1,"id":1},"c":"\\',
  ])('are not looked for in %s', (json) => {
    expect(read(json, ['id'])).toBeUndefined()
  })

  it('have names that stand for themselves', () => {
    expect(['id', 'a b', '@context', 'ü', 'Ã¼', '"', '\\', '\n', ''].map((name) => arePlain([name]))).toEqual([
      ...[true, true, true],
      ...[false, false, false, false, false, false],
    ])
  })
})
