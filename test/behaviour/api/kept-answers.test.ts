import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { KeptAnswers } from '../../../src/answers/api/http/kept-answers.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { apiLimits } from '../../../src/answers/api/api-limits.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { replaceByEmpty } from '../../support/builders/empty-branch.js'
import { testAddress } from '../../support/builders/spec.js'
import { type Answer, ask, contextOf, type Question, serve } from '../../support/client/api.js'
import { rounds } from '../../support/process/thorough.js'

/** Every interface, with answers that are kept and with none. */

let node: TestChain
let keeping: ApiServer
let fresh: ApiServer
let kept: KeptAnswers

beforeAll(async () => {
  node = await TestChain.open()
  const context = contextOf(node)
  kept = new KeptAnswers({ chain: node.chain, resolver: context.resolver }, apiLimits.answerCache)
  keeping = await serve({ ...context, kept })
  fresh = await serve(contextOf(node, { limits: { answerCache: 0 } }))
})
afterAll(async () => {
  await keeping.close()
  await fresh.close()
  await node.close()
})

type Asked = readonly [path: string, question: Question]

const call = (method: string, params: unknown, id: unknown = 1): Asked => [
  '/rpc',
  {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  },
]
const get = (path: string, headers: Question['headers'] = {}, method = 'GET'): Asked => [path, { method, headers }]

/** All of an answer but for its moment. */
const shown = ({ status, headers: { date: _, ...headers }, text }: Answer) => ({ status, headers, text })

async function compare(questions: readonly Asked[]): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const [path, question] of questions) {
    const made = await ask(fresh.port, path, question)
    // Made, then kept.
    for (let i = 0; i < 2; i++) {
      expect(shown(await ask(keeping.port, path, question)), `${path} ${JSON.stringify(question)}`).toEqual(shown(made))
    }
    answers.push(made)
  }
  return answers
}

describe('An answer that is kept', () => {
  it('is the one that is made anew: after blocks, reorganisations, expiry and changes of the pool', async () => {
    const all = rounds(12, 24)
    const [ada, bob] = [holder(), holder()]
    // About the middle of them.
    const soon = new Date(node.clock.time + all * 1000).toISOString().replace('.000', '')
    let last = await node.publish(ada.create(), ada.did)
    const first = last
    await node.publish(bob.create({ expires: soon }), bob.did)
    let sent = last
    const questions = (): Asked[] => {
      const { height } = node.reader
      const { did } = ada
      const path = `/1.0/identifiers/${did}`
      const hash = node.chain.tip.header.id
      const address = testAddress(11)
      return [
        ...['block/height', `block/details/height/${height}`, `transaction/${sent}`, `asset/balances/${address}`].map(
          (one) => get(`/api/v1/${one}`),
        ),
        get('/api/v1/block/height', { 'if-none-match': '*' }),
        get('/api/v1/transactionpool'),
        ...[path, `/1.0/identifiers/${bob.did}`, `${path}?versionId=${first}`, `${path}?versionId=${last}`].map((one) =>
          get(one),
        ),
        get(path, {}, 'HEAD'),
        get(path, { accept: 'application/did+ld+json' }),
        get(path, { accept: 'application/did' }),
        get(path, { 'if-none-match': '*' }),
        get(path, { 'accept-encoding': 'gzip' }),
        [path, { method: 'POST', headers: { 'content-type': 'application/json', 'if-none-match': '*' }, body: '{}' }],
        [path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: `{"versionId":"${first}"}` }],
        ...['', '?depth=0', '?depth=1', '?history'].map((query) => get(`/light/1/did/${did}${query}`)),
        get(`/light/1/did/${did}`, { 'if-none-match': '*' }),
        get(`/light/1/did/${did}`, {}, 'HEAD'),
        ...['trust', 'anchor', 'changes/0', 'headers/0/5', 'witnessed', `did/${bob.did}?height=${height}`].map((one) =>
          get(`/light/1/${one}`),
        ),
        ...[1, 'two', null].map((id) => call('resolvedid', { did, all: false }, id)),
        call('resolvedid', { all: false, did: bob.did }),
        call('resolvedid', { did, all: true, context: true }),
        call('resolvedid', { did, all: false, proof: true, depth: 0 }),
        call('resolvedid', { did, all: false, versionHeight: height - 1 }),
        call('did_resolveDID', [{ did }]),
        ...['getblockcount', 'getbestblockhash', 'getchaininfo', 'countdids', 'listblocks', 'getrawmempool'].map(
          (one) => call(one, {}),
        ),
        call('getblockbyheight', { height }),
        call('getblockbyheight', [String(height)]),
        call('getblock', { blockhash: hash, verbosity: 0 }),
        call('getblock', { verbosity: 2, blockhash: hash }),
        call('getreceivedbyaddress', { address }),
        call('listunspent', { addresses: [address] }),
        call('getaddresshistory', { address }),
        call('getrawtransaction', { txid: sent, verbose: true }),
        call('query', { query: '{expires:{$exists:true}}', context: true }),
        call('did_prove', { did }),
        call('getblockhash', { height: height + 1 }),
      ]
    }
    let random = 7
    const roll = (sides: number) => (random = (random * 48_271) % 2_147_483_647) % sides
    let expired = 0
    for (let round = 0; round < all; round++) {
      const asked = await compare(questions())
      expired += asked.some(({ text }) => text.includes('"expired":true')) ? 1 : 0
      const step = roll(5)
      if (step === 0) node.clock.time += 5000
      if (step <= 1) sent = (await node.send(await node.transfer(testAddress(11), BigInt(1 + roll(1000))))).txid
      if (step === 2 && node.mempool.size === 0)
        sent = last = (await node.send(await node.carry(ada.update(last), ada.did))).txid
      if (step >= 2) {
        node.clock.time += 1000
        await node.mine()
      }
      if (round % 6 === 5) await replaceByEmpty(node, 1 + roll(2))
      last = await latest(ada.did)
    }
    await compare(questions())
    expect(expired).toBeGreaterThan(0)
    expect(expired).toBeLessThan(all)
  })

  it('of a pool transaction, a failure and an unknown DID is none', async () => {
    await node.mine()
    const { txid } = await node.send(await node.transfer(testAddress(11), 5n))
    await compare([get('/api/v1/block/height')])
    const before = kept.bytes
    const unkept: Asked[] = [
      get(`/api/v1/transaction/${txid}`),
      get(`/api/v1/block/hash/${node.reader.height + 1}`),
      get(`/1.0/identifiers/did:ledger:i${'1'.repeat(33)}`),
      get('/1.0/identifiers/no-did'),
      get('/light/1/did/did:web:example'),
      get('/light/1/anchor/99999'),
      call('getrawtransaction', { txid }),
      call('getblockhash', { height: node.reader.height + 1 }),
      call('getblockcount', [1, 2, 3]),
      call('resolvedid', { did: `i${'1'.repeat(33)}`, all: false }),
      call('getconnectioncount', {}),
    ]
    for (const question of unkept) {
      await compare([question])
      expect(kept.bytes, JSON.stringify(question)).toBe(before)
    }
  })

  it('is given to a call that names the height of the node, and not to one that names the next', async () => {
    const context = contextOf(node, { limits: { heightWait: 50 } })
    const own = new KeptAnswers({ chain: node.chain, resolver: context.resolver }, apiLimits.answerCache)
    const server = await serve({ ...context, kept: own })
    try {
      const asked = (minHeight?: number) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getblockcount', params: {}, minHeight })
        return ask(server.port, '/rpc', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      }
      const { height } = node.reader
      const { text } = await asked()
      const get = vi.spyOn(own, 'get')
      expect((await asked(height)).text).toBe(text)
      expect(get.mock.results.map(({ value }) => value !== undefined)).toEqual([true])
      get.mockClear()
      expect((await asked(height + 1)).status).toBe(503)
      expect(get).not.toHaveBeenCalled()
    } finally {
      await server.close()
    }
  })

  it('takes no place without end, whatever is asked', async () => {
    const context = contextOf(node)
    const bytes = 64 * 1024
    const small = new KeptAnswers({ chain: node.chain, resolver: context.resolver }, bytes)
    const server = await serve({ ...context, kept: small })
    try {
      for (let i = 0; i < 300; i++) {
        const { status } = await ask(server.port, `/light/1/did/i${String(i).padStart(33, '1').replaceAll('0', 'z')}`)
        expect(status).toBe(200)
        expect(small.bytes).toBeLessThanOrEqual(bytes)
      }
      expect(small.bytes).toBeGreaterThan(bytes / 2)
    } finally {
      await server.close()
    }
  })

  it('goes on for those who stay where a client leaves', async () => {
    const [path, question] = call('getblockbyheight', { height: 1 })
    const leaving = Array.from({ length: 20 }, () => {
      const left = new AbortController()
      const asked = fetch(`http://127.0.0.1:${keeping.port}${path}`, {
        ...question,
        signal: left.signal,
      } as RequestInit)
      left.abort()
      return asked.catch(() => undefined)
    })
    await Promise.all(leaving)
    await compare([[path, question]])
  })
})

async function latest(did: string): Promise<string> {
  const [path, question] = call('resolvedid', { did, all: false })
  const { body } = await ask(fresh.port, path, question)
  return (body as { result: { transaction: { txid: string }[] } }).result.transaction[0]?.txid as string
}
