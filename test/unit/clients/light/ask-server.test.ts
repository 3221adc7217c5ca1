import { describe, expect, it } from 'vitest'
import { askAll } from '../../../../src/clients/light/ask-all.js'
import { NodeServer, type Server } from '../../../../src/clients/light/ask-server.js'
import { LightError } from '../../../../src/clients/light/light-error.js'
import type { AnchoredBlock } from '../../../../src/identity/proofs/anchor.js'
import { ProofError } from '../../../../src/identity/proofs/proof-failure.js'
import { failureOf } from '../../../support/builders/light-world.js'
import { withPassingTime } from '../../../support/fakes/passing-time.js'

const bound = { bytes: 1_000, tokens: 100 }
const serverOf = (body: ConstructorParameters<typeof Response>[0], status = 200) =>
  new NodeServer('http://a', () => Promise.resolve(new Response(body, { status })))

describe('a request to a server', () => {
  it('is a call by name, or of a path of the light client', async () => {
    const asked: unknown[] = []
    const server = new NodeServer('http://a', (url, { method, body, redirect, headers }) => {
      asked.push([url, method, body === undefined ? undefined : JSON.parse(body as string), redirect, headers])
      return Promise.resolve(new Response('{"result":[7]}'))
    })
    expect(await server.call('name', { x: 1 }, bound)).toEqual([7])
    expect(await server.get('changes/5')).toEqual({ result: [7] })
    expect(asked).toEqual([
      [
        'http://a/rpc',
        'POST',
        { jsonrpc: '2.0', id: expect.any(Number) as unknown, method: 'name', params: { x: 1 } },
        'error',
        { 'content-type': 'application/json' },
      ],
      ['http://a/light/1/changes/5', undefined, undefined, 'error', undefined],
    ])
  })

  it.each([
    ['{}', 'proof-missing'],
    ['{"error":{"code":5}}', 'proof-missing'],
    ['{"error":{"code":-32602}}', 'proof-missing'],
    ['{"error":{"code":-32001}}', 'unreachable'],
    ['{"error":{"code":-32005}}', 'unreachable'],
    ['{"error":{"code":-32005,"data":"the history of the DID is too long to be given at once"}}', 'proof-missing'],
    ['{"error":{"code":-32024}}', 'unreachable'],
    ['{"error":{"code":-32603}}', 'unreachable'],
    ['{"error":{"code":"-32603"}}', 'proof-missing'],
    ['{"error":{"code":-32603},"result":1}', 1],
    ['null', 'proof-missing'],
    ['5', 'proof-missing'],
    ['"result"', 'proof-missing'],
    ['[]', 'proof-missing'],
    ['{"result":null}', null],
    ['{"result":0}', 0],
    ['', 'form'],
    ['{', 'form'],
    [`"${'x'.repeat(1_000)}"`, 'form'],
  ])('that is answered with %s ends with %j', async (text, expected) => {
    expect(await failureOf(serverOf(text).call('name', {}, bound))).toBe(expected)
  })

  it.each([
    [200, 7],
    [400, 7],
    [403, 7],
    [404, 'proof-missing'],
    [405, 7],
    [499, 7],
    [500, 'unreachable'],
    [501, 'unreachable'],
    [503, 'unreachable'],
  ])('with HTTP %d ends with %j', async (status, expected) => {
    expect(await failureOf(serverOf('{"result":7}', status).call('name', {}, bound))).toBe(expected)
  })

  it('that no server answers is one that did not reach it', async () => {
    const failing = (error: unknown) => failureOf(new NodeServer('http://a', () => Promise.reject(error)).get('x'))
    expect(await failing(new TypeError('fetch failed'))).toBe('unreachable')
    expect(await failing('gone')).toBe('unreachable')
    expect(await failing(undefined)).toBe('unreachable')
    expect(await failing(new LightError('form', 'for the test'))).toBe('form')
  })

  it('says why a server was not reached: a failed fetch hides that in its cause', async () => {
    const said = (error: unknown) => new NodeServer('http://a', () => Promise.reject(error)).get('x')
    const failed = (cause: unknown) => said(new TypeError('fetch failed', { cause }))
    await expect(failed(new Error('connect ECONNREFUSED'))).rejects.toThrow('http://a: connect ECONNREFUSED')
    const several = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
    await expect(failed(several)).rejects.toThrow('http://a: ECONNREFUSED')
    await expect(said(new TypeError('Failed to fetch'))).rejects.toThrow('http://a: Failed to fetch')
    await expect(said('gone')).rejects.toThrow('http://a: gone')
  })

  it('has an answer in any parts, and reads no more than it may', async () => {
    const parts = new TextEncoder().encode('{"result":"ü😀"}')
    const inParts = () =>
      new ReadableStream({
        start: (stream) => {
          for (const byte of parts) stream.enqueue(Uint8Array.of(byte))
          stream.close()
        },
      })
    expect(await serverOf(inParts()).call('name', {}, bound)).toBe('ü😀')
    let isCancelled = false
    const endless = new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(100).fill(0x20)),
      cancel: () => void (isCancelled = true),
    })
    expect(await failureOf(serverOf(endless).call('name', {}, bound))).toBe('form')
    expect(isCancelled).toBe(true)
  })
})

describe('several servers', () => {
  const servers = ['http://a', 'http://b', 'http://c'].map(
    (url) => new NodeServer(url, () => Promise.reject(new Error())),
  )
  const block = {} as AnchoredBlock
  const never = new Promise<{ block: AnchoredBlock }>(() => {})
  type Outcome = 'holds' | 'fails' | 'is silent'
  const answering = (outcomes: readonly Outcome[]) => (server: Server) => {
    const outcome = outcomes[servers.findIndex((one) => one === server)]
    if (outcome === 'is silent') return never
    return outcome === 'holds' ? Promise.resolve({ block }) : Promise.reject(new ProofError('form', 'for the test'))
  }
  /** What is said of each after so many milliseconds; undefined while it is waited for. */
  const saidAfter = (milliseconds: number, needed: number, outcomes: readonly Outcome[]) =>
    withPassingTime(async (pass) => {
      let said: string[] | undefined
      void askAll(servers, needed, answering(outcomes)).then((all) => {
        said = all.map((one) => ('proved' in one ? 'holds' : one.error.failure))
      })
      await pass(milliseconds)
      return said
    })

  it('are waited for no longer than a request takes, once enough answers hold', async () => {
    expect(await saidAfter(9_999, 1, ['holds', 'is silent', 'fails'])).toBeUndefined()
    expect(await saidAfter(10_000, 1, ['holds', 'is silent', 'fails'])).toEqual(['holds', 'timeout', 'form'])
    expect(await saidAfter(10_000, 2, ['holds', 'is silent', 'holds'])).toEqual(['holds', 'timeout', 'holds'])
  })

  it('are waited for while too few answers hold', async () => {
    expect(await saidAfter(60_000, 2, ['holds', 'is silent', 'fails'])).toBeUndefined()
    expect(await saidAfter(60_000, 3, ['holds', 'is silent', 'holds'])).toBeUndefined()
  })

  it('are not waited for where all have answered', async () => {
    expect(await saidAfter(0, 3, ['holds', 'fails', 'fails'])).toEqual(['holds', 'form', 'form'])
  })
})
