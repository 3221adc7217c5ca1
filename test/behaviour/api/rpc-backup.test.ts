import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { Chain } from '../../../src/ledger/chain/chain.js'
import { verifyChain } from '../../../src/ledger/chain/replay-chain.js'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { BackupJob } from '../../../src/ledger/storage/care/backup-job.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { DataDirectory } from '../../../src/ledger/storage/directory.js'
import { memoryStore, quietLog, TestChain } from '../../support/builders/chain.js'
import { testAddress } from '../../support/builders/spec.js'
import { contextOf, serve } from '../../support/client/api.js'
import { owner, RpcClient } from '../../support/client/rpc.js'
import { eventually } from '../../support/process/patience.js'

const root = mkdtempSync(join(tmpdir(), 'didledger-rpc-backup-'))
const adminToken = new Uint8Array(32).fill(7)
let node: TestChain
let directory: DataDirectory
let rpc: RpcClient
let slowServer: ApiServer
let count = 0
const fresh = () => join(root, `backup-${++count}`)

beforeAll(async () => {
  directory = await DataDirectory.open(join(root, 'data'))
  const store = new Level<Buffer, Buffer>(directory.database, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  node = await TestChain.open(undefined, { store })
  await directory.claim(node.spec.name, node.chain.genesis.header.hash, true)
  await node.mine(3)
  await node.send(await node.transfer(testAddress(3), 1000n))
  await node.mine(2)
  await node.send(await node.transfer(testAddress(4), 2000n))
  const { timers } = systemEnv(node.log)
  const backups = new BackupJob({ directory, database: node.database, timers })
  rpc = new RpcClient(contextOf(node, { backups }))
  const slow = new BackupJob({ directory, database: node.database, timers, options: { rate: 1000 } })
  slowServer = await serve(contextOf(node, { backups: slow, adminToken }))
})
afterAll(async () => {
  await slowServer.close()
  await node.close()
  rmSync(root, { recursive: true })
})

describe('backup', () => {
  test('makes a directory on which every row is right', async () => {
    const path = fresh()
    const tip = node.chain.tip.header
    expect(await rpc.call('backup', { path })).toMatchObject({ path, done: true, height: 5, hash: tip.id })

    const parts = { verifier: createInlineVerifier(), signatures: new SignatureCache(), clock: node.clock }
    const copy = await Database.open(join(path, 'chain'))
    const chain = await Chain.open({ spec: node.spec, database: copy, log: quietLog(), ...parts })
    const scratch = await Database.over(memoryStore())
    const replayed = await Chain.open({ spec: node.spec, database: scratch, log: quietLog(), ...parts })
    expect(await verifyChain(chain, replayed)).toBeUndefined()
    expect(chain.tip.header.id).toBe(tip.id)
    await chain.close()
    await copy.close()
  })

  test.each<[string, unknown]>([
    ['no path', {}],
    ['an empty path', { path: '' }],
    ['a number', { path: 7 }],
    ['a path that is too long', { path: `/${'x'.repeat(4096)}` }],
    ['too long a wait', { path: '/x', seconds: 61 }],
    ['half a second', { path: '/x', seconds: 0.5 }],
  ])('refuses %s', async (_, params) => {
    expect(await rpc.refusal('backup', params)).toMatchObject({ code: -32602 })
  })

  test('says why there is no backup', async () => {
    expect(await rpc.refusal('backup', { path: 'x' })).toMatchObject({
      code: -32020,
      data: expect.stringContaining('begins at the root') as string,
    })
    expect(await rpc.refusal('backup', { path: '/tmp/\0' })).toMatchObject({ code: -32020 })
  })

  test('is for the owner alone, on the machine of the node', async () => {
    const path = fresh()
    for (const who of [{ adminRefusal: 'who are you' }, { elsewhereRefusal: 'who are you' }]) {
      const refusal = await rpc.refusal('backup', { path }, { ...owner, ...who })
      expect(refusal).toMatchObject({ code: -32010, data: 'backup: who are you' })
    }
    expect(existsSync(`${path}.partial`)).toBe(false)
  })

  test('is unavailable where the node keeps no files', async () => {
    expect(await new RpcClient(contextOf(node)).refusal('backup', { path: '/x' })).toMatchObject({ code: -32601 })
  })

  test('ends when the connection of its client is closed, and leaves nothing', async () => {
    const path = fresh()
    const sent = request({
      host: '127.0.0.1',
      port: slowServer.port,
      path: '/rpc',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${toHex(adminToken)}` },
    })
    sent.on('error', () => {})
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'backup', params: { path, seconds: 60 } }))
    await eventually('the backup begins', () => existsSync(`${path}.partial`))
    sent.destroy()
    await eventually('the backup is gone', () => !existsSync(`${path}.partial`))
    expect(existsSync(path)).toBe(false)
  })
})
