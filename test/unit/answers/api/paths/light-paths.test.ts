import { afterEach, describe, expect, it } from 'vitest'
import type { ApiContext } from '../../../../../src/answers/api/api-context.js'
import type { ApiServer } from '../../../../../src/answers/api/servers/node-server.js'
import { RuleError } from '../../../../../src/base/errors/rule-error.js'
import { TestChain } from '../../../../support/builders/chain.js'
import { keysOf } from '../../../../support/builders/light-scene.js'
import type { SpecOverrides } from '../../../../support/builders/spec.js'
import { ask, contextOf, serve } from '../../../../support/client/api.js'
import { provesNothing } from '../../../../support/fakes/stubs.js'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

type Proofs = ApiContext['resolver']['proofs']

/** A node whose proofs are those of the test. */
async function nodeWith(proofs: Partial<Proofs>, overrides: SpecOverrides): Promise<ApiServer> {
  const node = await TestChain.open(overrides)
  closers.push(() => node.close())
  const context = contextOf(node)
  const resolver = { ...context.resolver, proofs: { ...provesNothing, ...proofs } } as ApiContext['resolver']
  const server = await serve({ ...context, resolver })
  closers.push(() => server.close())
  return server
}

const change = { height: 4, anchor: { header: '', coinbase: '', branch: '' } }
const anchor = async () => change

describe('answers to light resolvers', () => {
  it('are bare JSON, which caches keep where the block cannot be replaced', async () => {
    const kinds = [
      [{ validators: keysOf(1) }, 'public, max-age=31536000, immutable'],
      [{ validators: keysOf(1), devnet: true }, 'no-cache'],
      [{ validators: [], producer: 'miners' }, 'no-cache'],
    ] as const
    for (const [overrides, caching] of kinds) {
      const { port } = await nodeWith({ anchor }, overrides)
      const fixed = await ask(port, '/light/1/anchor/3')
      expect(fixed).toMatchObject({ status: 200, body: change, headers: { 'cache-control': caching } })
      expect(fixed.headers['content-type']).toBe('application/json; charset=utf-8')
      expect((await ask(port, '/light/1/anchor')).headers['cache-control']).toBe('no-cache')
    }
  })

  it('are kept by no cache where they are refusals, at once or while they are made', async () => {
    const refusal = () => Promise.reject(new RuleError('proof-unavailable', 'not here'))
    const { port } = await nodeWith({ anchor: refusal, changes: refusal }, { validators: keysOf(1) })
    for (const path of ['anchor/3', 'changes/3']) {
      const { status, body, headers } = await ask(port, `/light/1/${path}`)
      expect([status, headers['cache-control']]).toEqual([404, 'no-cache'])
      expect(body).toMatchObject({ error: { data: expect.stringContaining('not here') as string } })
    }
  })

  it('have a head alone for HEAD', async () => {
    const { port } = await nodeWith({ anchor }, { validators: keysOf(1) })
    expect(await ask(port, '/light/1/anchor/3', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  })
})

it.each([
  ['/light/1/did/did:ledger:x', true],
  ['/light/1/headers/1/2', true],
  ['/light/1/trust', true],
  ['/light/1/headers/1', false],
  ['/light/1/anchor/1/2', false],
  ['/light/1/', false],
  ['/light/2/trust', false],
  ['/x/light/1/trust', false],
])('a path for light resolvers takes GET and HEAD: %s, known %s', async (path, isKnown) => {
  const { port } = await nodeWith({}, { validators: keysOf(1) })
  const { status, headers } = await ask(port, path, { method: 'POST' })
  expect([status, headers['allow']]).toEqual(isKnown ? [405, 'GET, HEAD'] : [404, undefined])
})
