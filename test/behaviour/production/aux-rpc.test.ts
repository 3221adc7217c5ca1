import { TypeCompiler } from '@sinclair/typebox/compiler'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { miningMethods } from '../../../src/answers/api/rpc/mining-methods.js'
import { parseAddress, type ProgramHash } from '../../../src/base/primitives/address.js'
import { auxPowBytes } from '../../../src/base/primitives/auxpow.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { ask, contextOf, miningOf, serve } from '../../support/client/api.js'
import { solved } from '../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { owner, RpcClient } from '../../support/client/rpc.js'
import { testAddress } from '../../support/builders/spec.js'

const adminToken = new Uint8Array(32).fill(7)
const payTo = testAddress(20)
const authorization = `Bearer ${toHex(adminToken)}`

interface Reply {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly data: string } | null
}

let test: TestChain
let server: ApiServer
let mining: ReturnType<typeof miningOf>
beforeAll(async () => {
  test = await TestChain.open()
  mining = miningOf(test)
  server = await serve(contextOf(test, { adminToken, mining }))
})
afterAll(async () => {
  await mining.close()
  await server.close()
  await test.close()
})

async function call(method: string, params: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const json = { 'content-type': 'application/json', ...headers }
  return (await ask(server.port, '/', { method: 'POST', headers: json, body })).body as Reply
}

/** The result of a call, which has to be of the schema that the method gives for it. */
async function result(method: string, params: unknown, headers?: Record<string, string>): Promise<unknown> {
  const reply = await call(method, params, headers)
  expect(reply.error ?? null).toBe(null)
  const row = miningMethods.find(({ name }) => name === method)
  expect(TypeCompiler.Compile(row!.result).Check(reply.result)).toBe(true)
  return reply.result
}

const codeOf = async (...call_: Parameters<typeof call>) => (await call(...call_)).error?.code
const templateFor = (address: string): Promise<Block> => mining.template(parseAddress(address) as ProgramHash)

describe('createauxblock and submitauxblock', () => {
  it('give the template and take its work, with hashes in internal order', async () => {
    const work = await result('createauxblock', { paytoaddress: payTo })
    const { header } = await templateFor(payTo)
    expect(work).toEqual({
      chainid: test.spec.auxpowChainId,
      height: header.height,
      coinbasevalue: 500_000_000,
      bits: '207fffff',
      hash: toHex(header.hash),
      previousblockhash: toHex(test.chain.tip.header.hash),
    })
    expect(await result('createauxblock', [payTo])).toEqual(work)
    const proof = toHex(auxPowBytes(solved(header)))
    expect(await result('submitauxblock', [toHex(header.hash), proof])).toBe(true)
    expect(test.chain.tip.header.id).toBe(header.id)
    expect(await call('submitauxblock', [toHex(header.hash), proof])).toMatchObject({
      error: { code: -32007, data: expect.stringContaining('ask createauxblock for a new one') as string },
    })
  })

  it('refuse what is no address, no hash or no AuxPow', async () => {
    const deposit = 'DVgnDnVfPVuPa2y2E4JitaWjWgRGJDuyrD'
    for (const params of [{}, { paytoaddress: 5 }, [payTo.slice(1)], [`${payTo.slice(0, 33)}1`], [deposit]]) {
      expect(await codeOf('createauxblock', params)).toBe(-32602)
    }
    const { header } = await templateFor(payTo)
    const hash = toHex(header.hash)
    for (const params of [{}, [hash], [hash.slice(2), '00'], [hash, '0'], [hash, 'zz'], [hash, 1], [hash, '00', 1]]) {
      expect(await codeOf('submitauxblock', params)).toBe(-32602)
    }
    for (const proof of ['', '00', '00'.repeat(20_000)]) {
      expect(await codeOf('submitauxblock', [hash, proof])).toBe(-32000)
    }
    expect(await codeOf('submitauxblock', ['00'.repeat(32), '00'])).toBe(-32007)
    const lazy = await call('submitauxblock', [hash, toHex(auxPowBytes(solved(header, false)))])
    expect(lazy.error).toMatchObject({ code: -32000, data: 'the parent block hash is above the target of the header' })
  })

  it('take requests of any content type, for miners announce theirs as text', async () => {
    expect(await codeOf('createauxblock', [payTo], { 'content-type': 'text/plain' })).toBeUndefined()
    expect(await codeOf('submitauxblock', ['00'.repeat(32), '00'], { 'content-type': 'text/plain' })).toBe(-32007)
  })

  it('take blocks for a validator to confirm from this machine and from who has the token alone', async () => {
    const confirmed = await TestChain.open({ ...oneValidator(), producer: 'sponsor' })
    const rpc = new RpcClient(contextOf(confirmed))
    const { hash } = await rpc.call<{ hash: string }>('createauxblock', [payTo])
    const stranger = { ...owner, strangerRefusal: 'who are you' }
    expect(await rpc.refusal('submitauxblock', [hash, '00'], stranger)).toMatchObject({
      code: -32010,
      data: 'submitauxblock: who are you',
    })
    expect((await rpc.refusal('submitauxblock', [hash, '00'])).code).toBe(-32000)
    // Where work decides, whoever has done it may hand it in.
    const worked = new RpcClient(contextOf(test, { mining }))
    expect((await worked.refusal('submitauxblock', [hash, '00'], stranger)).code).toBe(-32007)
    await confirmed.close()
  })
})

describe('getmininginfo', () => {
  it('tells what a miner may want to know', async () => {
    expect(await result('getmininginfo', {})).toEqual({
      chain: test.spec.name,
      chainid: test.spec.auxpowChainId,
      blocks: test.reader.height,
      bits: '207fffff',
      difficulty: '1',
      networkhashps: expect.stringMatching(/^\d+$/) as string,
      pooledtx: 0,
      mining: false,
    })
  })
})

describe('discretemining and togglemining', () => {
  const admin = { authorization }

  it('are for the holder of the token alone', async () => {
    expect(await codeOf('discretemining', { count: 1, paytoaddress: payTo })).toBe(-32010)
    expect(await codeOf('togglemining', { mining: true, paytoaddress: payTo })).toBe(-32010)
    expect(await codeOf('togglemining', { mining: true }, { authorization: `Bearer ${'0'.repeat(64)}` })).toBe(-32010)
  })

  it('make blocks, or one after another', async () => {
    const { height } = test.reader
    const hashes = await result('discretemining', { count: 2, paytoaddress: payTo }, admin)
    expect(hashes).toEqual([1, 2].map((above) => test.reader.headerAt(height + above)?.header.id))
    expect(await result('togglemining', { mining: true, paytoaddress: payTo }, admin)).toBe(true)
    expect(await result('getmininginfo', [])).toMatchObject({ mining: true })
    expect(await result('togglemining', [false], admin)).toBe(false)
    expect(await result('getmininginfo', [])).toMatchObject({ mining: false })
  })

  it('refuse what makes no sense', async () => {
    for (const params of [{}, [0], [1001], ['01'], ['1001'], [1.5], [1, 'x'], [1, payTo, 2]]) {
      expect(await codeOf('discretemining', params, admin)).toBe(-32602)
    }
    for (const params of [{}, ['yes'], [true, 'x']]) expect(await codeOf('togglemining', params, admin)).toBe(-32602)
    const nobody = { code: -32008, data: expect.stringContaining('paytoaddress') as string }
    expect(await call('discretemining', [1], admin)).toMatchObject({ error: nobody })
    expect(await call('togglemining', [true], admin)).toMatchObject({ error: nobody })
  })
})
