import { describe, expect, it } from 'vitest'
import type { ApiContext } from '../../../../../src/answers/api/api-context.js'
import { lightRoutes, readLightValues } from '../../../../../src/answers/api/paths/light-routes.js'
import { maxHeaders } from '../../../../../src/identity/proofs/work.js'

/** A node that says what its proofs were asked for. */
function nodeAsked() {
  const asked: unknown[] = []
  const noting =
    (name: string) =>
    async (...questions: unknown[]) => {
      asked.push([name, ...questions])
      return {}
    }
  const proofs = {
    did: noting('did'),
    credential: noting('credential'),
    anchor: noting('anchor'),
    trust: () => void asked.push(['trust']),
  }
  return { context: { resolver: { proofs } } as unknown as ApiContext, asked }
}

function routeOf(path: string) {
  const route = lightRoutes.find((one) => one.path === path)
  if (route === undefined) throw new RangeError(`no path ${path}`)
  return route
}

type Segments = Readonly<Record<string, string>>

/** What a path asks of the node. */
async function askedBy(path: string, segments: Segments, search = ''): Promise<unknown[]> {
  const { context, asked } = nodeAsked()
  const route = routeOf(path)
  await route.run(context, readLightValues(route, segments, search))
  return asked
}

const refused = (said: string) => ({
  code: 'request-parameter',
  message: expect.stringContaining(said) as string,
})

describe('the paths of light resolvers', () => {
  const none = { depth: undefined, height: undefined }

  it('ask the node for what they name', async () => {
    expect(await askedBy('did/:did', { did: 'x' })).toEqual([['did', 'x', none]])
    expect(await askedBy('did/:did', { did: 'x' }, 'depth=2')).toEqual([['did', 'x', { ...none, depth: 2 }]])
    for (const search of ['history&height=3', 'history=true&height=3']) {
      const [first] = await askedBy('did/:did', { did: 'x' }, search)
      expect(first).toMatchObject(['did', 'x', { history: true, height: 3 }])
    }
    const credential = await askedBy('credential/:id', { id: 'did:ledger:x#y' }, 'issuer=z')
    expect(credential).toEqual([['credential', 'did:ledger:x#y', { ...none, issuer: 'z' }]])
    expect(await askedBy('anchor', {})).toEqual([['anchor', {}]])
    expect(await askedBy('anchor/:height', { height: '7' })).toEqual([['anchor', { height: 7 }]])
    expect(await askedBy('trust', {})).toEqual([['trust']])
  })

  it('hold for ever where they name a height, and the states of such blocks alone', () => {
    const fixed = (path: string, segments: Segments, search = '') =>
      routeOf(path).isFixed(readLightValues(routeOf(path), segments, search))
    expect(fixed('did/:did', { did: 'x' }, 'height=1')).toBe(true)
    expect(fixed('credential/:id', { id: 'did:ledger:x#y' }, 'height=1&issuer=y')).toBe(true)
    expect(fixed('anchor/:height', { height: '1' })).toBe(true)
    expect(fixed('did/:did', { did: 'x' }, 'depth=1')).toBe(false)
    expect(fixed('anchor', {})).toBe(false)
    for (const path of ['trust', 'changes/:from', 'headers/:from/:count']) {
      expect(fixed(path, { from: '1', count: '1' })).toBe(false)
    }
  })

  it.each<[string, Segments, string, string]>([
    ['did/:did', { did: 'x' }, 'history=no', 'history: no value or true'],
    ['did/:did', { did: 'x' }, 'height=-1', 'height'],
    ['anchor/:height', { height: 'x' }, '', 'height'],
    ['changes/:from', { from: '4294967296' }, '', 'from'],
    [
      'headers/:from/:count',
      { from: '0', count: `${maxHeaders + 1}` },
      '',
      `a count is an integer from 0 to ${maxHeaders}`,
    ],
  ])('refuse wrong values: %s', async (path, segments, search, said) => {
    await expect(askedBy(path, segments, search)).rejects.toMatchObject(refused(said))
  })
})

describe('the query of a path', () => {
  it('has the parameters of the path, each once', () => {
    const reading = (search: string, path = 'credential/:id') => readLightValues(routeOf(path), {}, search)
    expect(reading('issuer=x&height=%31')).toEqual({ issuer: 'x', height: 1 })
    expect(reading('')).toEqual({})
    expect(() => reading('c=1')).toThrow(
      expect.objectContaining(refused('c: not known here; parameters of this path: issuer, depth, height')),
    )
    expect(() => reading('a', 'trust')).toThrow(expect.objectContaining(refused('parameters of this path: none')))
    expect(() => reading('toString=1')).toThrow(expect.objectContaining(refused('toString: not known here')))
    expect(() => reading('depth=1&depth=1')).toThrow(expect.objectContaining(refused('depth: given more than once')))
  })
})
