import { Value } from '@sinclair/typebox/value'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { AnswerAdmission } from '../../../src/answers/api/streams/admission.js'
import { apiLimits } from '../../../src/answers/api/api-limits.js'
import { SharedAnswers } from '../../../src/answers/api/streams/shared-answer.js'
import { queryResult } from '../../../src/answers/api/schemas/did-schemas.js'
import { queryLimits, readQuery } from '../../../src/answers/resolver/document-search.js'
import { ask, contextOf, serve } from '../../support/client/api.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { behind } from '../../support/fakes/standing.js'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const hub = { id: '#hub', type: 'Hub', serviceEndpoint: 'https://hub.example' }

async function portOf(node: TestChain, changes: Parameters<typeof contextOf>[1] = {}): Promise<number> {
  const server = await serve(contextOf(node, changes))
  closers.push(() => server.close())
  return server.port
}

/** A node with two DIDs of service Hub, the first of which has a ProfileCredential, and what it answers to `query`. */
async function start(changes: Parameters<typeof contextOf>[1] = {}) {
  const node = await TestChain.open(oneValidator())
  closers.push(() => node.close())
  const people = [holder(), holder()] as const
  const [ada, bob] = people
  await node.publish(ada.create({ services: [hub], credentials: [ada.issue(ada.did)] }), ada.did)
  await node.publish(bob.create({ services: [hub] }), bob.did)
  const port = await portOf(node, changes)
  const query = async (params: string) => {
    const body = `{"jsonrpc":"2.0","id":7,"method":"query","params":${params}}`
    return (await ask(port, '/rpc', { method: 'POST', body })).body as Answer
  }
  return { query, people, node }
}

interface Answer {
  readonly id: unknown
  readonly result?: { readonly total: number; readonly document: readonly { readonly id: string }[] }
  readonly error?: { readonly code: number; readonly message: string; readonly data: string }
}

/** Lets searches that read every document wait, and counts searches that began. */
function holdScans({ database }: TestChain) {
  let goOn = () => {}
  const gate = new Promise<void>((resolve) => (goOn = resolve))
  const held = { searches: 0, goOn }
  const freeze = database.freeze.bind(database)
  database.freeze = () => {
    const rows = freeze()
    held.searches++
    return {
      ...rows,
      pages: async function* (...range) {
        await gate
        yield* rows.pages(...range)
      },
    }
  }
  return held
}

describe('query', () => {
  it('answers by service, by credential and by condition', async () => {
    const { query, people } = await start()
    const [ada, bob] = people.map(({ did }) => did)
    const found = async (params: string) => (await query(params)).result?.document.map(({ id }) => id)
    expect(await found('{"service":"Hub"}')).toEqual([ada, bob])
    expect(await found('{"credential":"ProfileCredential"}')).toEqual([ada])
    expect(
      await found('{"query":"{credential:{type:[\\"ProfileCredential\\"],subject:{name:{$exists:true}}}}"}'),
    ).toEqual([ada])
    expect(await found('{"query":"{}","skip":1,"limit":1,"more":null}')).toEqual([bob])
    const all = await query('{"query":"{}"}')
    expect(all).toMatchObject({ id: 7, jsonrpc: '2.0', result: { total: 2, start: 0, count: 2 } })
    expect([...Value.Errors(queryResult, all.result)]).toEqual([])
  })

  it('answers with nothing where nothing matches', async () => {
    const { query } = await start()
    const nothing = { total: 0, start: 0, count: 0, document: [] }
    expect((await query('{"service":"Mail","skip":5}')).result).toEqual(nothing)
    expect((await query('{"service":"Hub","limit":0}')).result).toEqual({ ...nothing, total: 2 })
    expect((await query('{"service":"Hub","skip":9}')).result).toEqual({ ...nothing, total: 2, start: 9 })
    const { result } = await query(`{"service":"Hub","limit":${queryLimits.documents + 1}}`)
    expect(result).toMatchObject({ total: 2, count: 2 })
  })

  const several = 'Query parameters invalid.'
  it.each([
    ['two conditions', '{"service":"T","query":"{}"}', several, /exactly one of .* not service and query/],
    ['two conditions of wrong types', '{"service":1,"credential":[]}', several, /not service and credential/],
    ['two conditions, one null', '{"service":null,"query":"{}"}', several, /exactly one/],
    ['two conditions before anything else', '{"service":"","query":1,"skip":-1}', several, /exactly one/],
    ['no condition', '{"skip":0}', several, /exactly one/],
    ['a broken condition', '{"query":"{a:"}', several, /JSON5/],
    ['an empty condition', '{"query":""}', several, /JSON5/],
    ['a refused operator', '{"query":"{a:{$where:1}}"}', several, /a\.\$where: "\$where" is not an operator/],
    ['null for a condition', '{"service":null}', 'Invalid params', /service/],
    ['a condition that is an object', '{"query":{}}', 'Invalid params', /query/],
    ['a service that is a number', '{"service":1}', 'Invalid params', /service/],
    ['an empty service', '{"service":""}', 'Invalid params', /service/],
    ['an empty credential', '{"credential":""}', 'Invalid params', /credential/],
    ['a negative skip', '{"query":"{}","skip":-1}', 'Invalid params', /skip/],
    ['a fractional limit', '{"query":"{}","limit":0.5}', 'Invalid params', /limit/],
    ['a limit that is text', '{"query":"{}","limit":"5"}', 'Invalid params', /limit/],
    ['a skip that is null', '{"query":"{}","skip":null}', 'Invalid params', /skip/],
    ['an unsafe skip', '{"query":"{}","skip":9007199254740992}', 'Invalid params', /skip/],
    ['an enormous limit', '{"query":"{}","limit":1e300}', 'Invalid params', /limit/],
    ['an array', '[{"query":"{}"}]', 'Invalid params', /object/],
    ['null', 'null', 'Invalid params', /params/],
  ])('refuses %s', async (_, params, message, data) => {
    const { query } = await start()
    const answer = await query(params)
    expect(answer).toMatchObject({ id: 7, error: { code: -32602, message } })
    expect(answer.error?.data).toMatch(data)
    expect(answer.result).toBe(undefined)
  })

  it('is refused without params too', async () => {
    const { node } = await start()
    const port = await portOf(node)
    const { body } = await ask(port, '/rpc', { method: 'POST', body: '{"id":1,"method":"query"}' })
    expect(body).toMatchObject({ error: { code: -32602, message: 'Invalid params' } })
  })

  it('says so where the node is catching up or busy', async () => {
    const joining = await start({ standing: () => behind(2, 9) })
    expect((await joining.query('{"service":"Hub"}')).error).toMatchObject({
      code: -32001,
      message: 'Resolver internal error.',
      data: expect.stringContaining('not in step') as string,
    })
    const { query } = await start()
    const asked = await Promise.all(Array.from({ length: queryLimits.waiting + 20 }, () => query('{"service":"Hub"}')))
    const codes = new Set(asked.map(({ error }) => error?.code))
    expect([...codes].filter((code) => code !== undefined && code !== -32005)).toEqual([])
  })

  it('names the parts that the index does not answer where it would read too many documents', async () => {
    const { query } = await start({ queryLimits: { examined: 1 } })
    const condition = JSON.stringify('{service:{name:{$regex:"x"}},id:{$ne:"y"}}')
    const { error } = await query(`{"query":${condition}}`)
    expect(error).toMatchObject({ code: -32005, data: expect.stringContaining('more than 1 documents') as string })
    expect(error?.data).toContain('the index does not answer service.name.$regex, id.$ne')
    // What the index answers is no matter of reading.
    expect((await query('{"service":"Hub"}')).result?.total).toBe(2)
  })

  it('answers what the index answers beside as many searches of documents as may wait', async () => {
    const { query, node } = await start()
    const held = holdScans(node)
    const scans = Array.from({ length: 100 }, (_, n) => query(`{"query":"{a:{$ne:${n}}}"}`))
    await expect.poll(() => held.searches).toBe(1)
    for (let i = 0; i < 5; i++) expect((await query('{"service":"Hub"}')).result?.total).toBe(2)
    held.goOn()
    for (const scan of scans) expect((await scan).result?.total).toBe(2)
  })

  it('waits for the memory of documents found, and is refused where none becomes free', async () => {
    const { node, people } = await start()
    const gate = new AnswerAdmission({ ...apiLimits, largeTransactions: 3 * 1024 * 1024, answersPatience: 100 })
    const context = contextOf(node, { sharedAnswers: new SharedAnswers(gate) })
    const found = await context.resolver.queryJson(readQuery({ service: 'Hub' }))
    const characters = 1024 * 1024
    vi.spyOn(context.resolver, 'queryJson').mockImplementation(async (_, options) => {
      await options?.admit?.(characters)
      return found
    })
    const server = await serve(context)
    closers.push(() => server.close())
    const query = async (skip: number) => {
      const body = JSON.stringify({ id: 1, method: 'query', params: { service: 'Hub', skip } })
      return (await ask(server.port, '/rpc', { method: 'POST', body })).body as Answer
    }
    const dids = people.map(({ did }) => did)
    expect((await query(0)).result?.document.map(({ id }) => id)).toEqual(dids)
    const holder = { share: 'other', slow: false, evict: () => {} }
    const release = await gate.reserve(2 * characters, holder, new AbortController().signal)
    expect((await query(1)).error?.code).toBe(-32005)
    release()
    expect((await query(1)).result?.document.map(({ id }) => id)).toEqual(dids)
  })

  it('goes on for no client that has left, with no further request of its batch either', async () => {
    const { node } = await start()
    const held = holdScans(node)
    const context = contextOf(node)
    const asking = vi.spyOn(context.resolver, 'queryJson')
    const signals = () => asking.mock.calls.map(([, options]) => options?.signal?.aborted)
    const port = await portOf(node, context)
    const scan = (n: number) => ({ id: n, method: 'query', params: { query: `{a:{$ne:${n}}}` } })
    const left = new AbortController()
    const body = JSON.stringify([scan(1), scan(2)])
    const asked = fetch(`http://127.0.0.1:${port}/rpc`, { method: 'POST', body, signal: left.signal })
    const waits = new AbortController()
    const waiting = fetch(`http://127.0.0.1:${port}/rpc`, {
      method: 'POST',
      body: JSON.stringify(scan(3)),
      signal: waits.signal,
    })
    await expect.poll(signals).toEqual([false, false])
    expect(held.searches).toBe(1)
    waits.abort()
    await expect(waiting).rejects.toThrow()
    left.abort()
    await expect(asked).rejects.toThrow()
    await expect.poll(signals).toEqual([true, true])
    held.goOn()
    const { body: answer } = await ask(port, '/rpc', { method: 'POST', body: JSON.stringify(scan(4)) })
    expect(answer).toMatchObject({ id: 4, result: { total: 2 } })
    expect(held.searches).toBe(2)
  })
})
