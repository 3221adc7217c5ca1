import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Resolver } from 'did-resolver'
import { afterEach, describe, expect, it } from 'vitest'
import { callRpc } from '../../../src/clients/client/rpc.js'
import {
  createNode,
  type CreateNodeOptions,
  getResolver,
  type LedgerNode,
  RuleError,
  type SyncProgress,
} from '../../../src/index.js'
import { accountSource } from '../../../src/node/library/wallet-entry.js'
import { networkVersion } from '../../../src/network/wire/status-message.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { withoutValidators } from '../../support/builders/chain.js'
import { testPatience } from '../../support/process/patience.js'
import { testKey, testPublicKey, testSpec } from '../../support/builders/spec.js'

const account = accountSource({ kind: 'keys', privateKeys: [testKey(10)] })(0)
const timing = { minInterval: 100, maxDrift: 5000, propose: 1000, delta: 500 }
const loopback = { port: 0, hosts: ['127.0.0.1'] }

let open: LedgerNode[] = []
let directories: string[] = []
let server: Server | undefined

afterEach(async () => {
  await Promise.all(open.map((node) => node.close()))
  for (const path of directories) rmSync(path, { recursive: true, force: true })
  server?.close()
  open = []
  directories = []
  server = undefined
})

async function start(options: CreateNodeOptions): Promise<LedgerNode> {
  const node = await createNode(options)
  open.push(node)
  return node
}

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'didledger-peering-'))
  directories.push(path)
  return path
}

describe('peers of a node in this process', () => {
  it('says that nothing is known while none was reached', async () => {
    const spec = testSpec({ maturity: 1, ...withoutValidators })
    const node = await start({ spec, peers: ['127.0.0.1:1'], api: { portBase: 0 } })
    const asked = node.resolver.resolve('did:ledger:iXYqFNd8LoYH8ZBkVuTXkzBeQrbqqpbSBq')
    await expect(asked).rejects.toMatchObject({ code: 'resolver-behind' })
    await expect(asked).rejects.toThrow('no peer has shown its chain yet')
    expect(node.sync).toMatchObject({ stage: 'idle', catchingUp: true, height: 0, reason: 'no peers' })
    const status = await callRpc(node.api?.rpc ?? '', 'getsyncstatus', {}, { timeout: testPatience })
    expect(status).toMatchObject({ stage: 'idle', catchingup: true, height: 0, reason: 'no peers' })
    const first = await start({ spec, listen: loopback, mineTo: account.address })
    await node.peers?.connect(first.peers?.addresses[0] ?? '')
    await expect.poll(() => node.standing, { timeout: testPatience }).toMatchObject({ inStep: true })
    expect(await node.resolver.resolve('did:ledger:iXYqFNd8LoYH8ZBkVuTXkzBeQrbqqpbSBq')).toMatchObject({ status: 3 })
    expect(node.sync.catchingUp).toBe(false)
  })

  it('says which version of the network protocol the node speaks', async () => {
    const node = await start({ spec: testSpec({ maturity: 1, ...withoutValidators }), api: { portBase: 0 } })
    const { rest = '', rpc = '' } = node.api ?? {}
    const call = (method: string) => callRpc(rpc, method, {}, { timeout: testPatience })
    expect(await call('getinfo')).toMatchObject({ version: networkVersion })
    expect(await call('getnodestate')).toMatchObject({ Version: networkVersion })
    const answer = await fetch(`${rest}/api/v1/node/state`)
    expect(await answer.json()).toMatchObject({ Result: { Version: networkVersion } })
  })

  it('follows a node that mines, and resolves what was registered there', async () => {
    const spec = testSpec({ maturity: 1, ...withoutValidators })
    const miner = await start({ spec, mineTo: account.address, listen: loopback })
    const [place = ''] = miner.peers?.addresses ?? []
    expect(place).toMatch(/^\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\//)
    await expect.poll(() => miner.chain.balance(account.address) > 0n && miner.chain.height).toBeGreaterThan(2)
    const { did, txid } = await miner.wallet.createDid({ account })
    await miner.chain.waitFor(txid)

    const follower = await start({ spec, peers: [place] })
    const joined = new Promise((resolve) => follower.events.on('peer', resolve))
    const told: SyncProgress[] = []
    follower.events.on('sync', (progress) => void told.push(progress))
    await follower.synced()
    expect(follower.chain.height).toBeGreaterThan(2)
    expect(follower.sync).toMatchObject({ stage: 'idle', catchingUp: false })
    expect(await follower.resolver.resolve(did)).toMatchObject({ did, status: 0, transaction: [{ txid }] })
    const { didDocument } = await new Resolver(getResolver(follower)).resolve(did)
    expect(didDocument?.id).toBe(did)

    const [neighbor] = follower.peers?.list() ?? []
    expect(await joined).toMatchObject({ action: 'joined', name: neighbor?.name })
    expect(neighbor).toMatchObject({ external: false, name: place.split('/').at(-1) })
    expect(miner.peers?.list()).toHaveLength(1)
    expect(miner.peers?.list()[0]).toMatchObject({ external: true })
    expect(follower.peers?.addresses).toEqual([])
    await expect.poll(() => told.length).toBeGreaterThan(0)

    // What one of them is given reaches the other.
    const paid = await follower.wallet.transfer({ from: account, to: account.address, amount: '0.5' })
    await miner.chain.waitFor(paid)
    await follower.chain.waitFor(paid)

    const left = new Promise((resolve) => follower.events.on('peer', resolve))
    expect(follower.peers?.disconnect(1)).toBe(false)
    expect(follower.peers?.disconnect(neighbor?.id ?? 0)).toBe(true)
    expect(await left).toMatchObject({ action: 'left', name: neighbor?.name })
    expect(follower.peers?.list()).toEqual([])
  })

  it('connects later, and says why it does not', async () => {
    const spec = { spec: testSpec() }
    const [one, two] = await Promise.all([start({ ...spec, listen: loopback }), start({ ...spec, peers: [] })])
    expect(two.voting).toMatchObject({
      height: 1,
      signing: 'no-key',
      sponsor: expect.stringMatching(/^0[23]/) as string,
    })
    const stalled = two.synced({ timeout: 50 }).catch(String)
    expect(await stalled).toMatch(/not caught up: it stays at height 0 of 0: no peers/)
    const waiting = two.synced()
    const [place = ''] = one.peers?.addresses ?? []
    expect(await two.peers?.connect(place)).toMatchObject({ height: 0, external: false })
    await waiting
    await expect(two.peers?.connect('nowhere')).rejects.toThrow(
      /address: nowhere is neither host:port, nor a multiaddr/,
    )
    server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server?.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server?.close(resolve))
    const refused = await two.peers?.connect(`127.0.0.1:${port}`).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RuleError)
    expect((refused as RuleError).code).toBe('peer-unreachable')
    const other = await start({ network: 'pow', listen: loopback })
    const foreign = await two.peers?.connect(other.peers?.addresses[0] ?? '').catch((error: unknown) => error)
    expect((foreign as RuleError).code).toBe('peer-genesis')
  })

  it('votes with a key', async () => {
    const spec = testSpec({ validators: [toHex(testPublicKey(0))], timing: { ...timing, emptyInterval: 1000 } })
    const node = await start({ spec, dataDir: directory(), validatorKey: toHex(testKey(0)), listen: loopback })
    expect(node.voting?.signing).toBe('yes')
    const follower = await start({ spec, peers: node.peers?.addresses ?? [] })
    await new Promise((resolve) => follower.events.on('block', resolve))
    expect(follower.chain.confirm(follower.chain.tip.hash)).toBeInstanceOf(Uint8Array)
  })

  it('says while its chain does not go on, and who is missing', async () => {
    const absent = toHex(testPublicKey(1))
    const spec = testSpec({ validators: [toHex(testPublicKey(0)), absent], timing: { ...timing, emptyInterval: 1000 } })
    const node = await start({ spec, dataDir: directory(), validatorKey: toHex(testKey(0)), listen: loopback })
    await expect.poll(() => node.voting?.stalled).toMatchObject({ reason: 'no-quorum' })
    expect(node.voting?.stalled?.detail).toContain(absent.slice(0, 12))
  })

  it('is caught up where there is nobody to catch up with, and ends those who wait when it closes', async () => {
    const alone = await start({ network: 'devnet' })
    await alone.synced()
    expect(alone.peers).toBeUndefined()
    expect(alone.voting).toBeUndefined()
    expect(alone.sync).toEqual({
      stage: 'idle',
      catchingUp: false,
      height: 0,
      target: 0,
      rate: 0,
      reason: 'this node has no peers',
    })
    const node = await start({ network: 'pow', peers: [] })
    const waiting = node.synced().catch(String)
    await node.close()
    expect(await waiting).toContain('the node is closed')
    await expect(node.synced()).rejects.toThrow('the node is closed')
    expect(() => node.sync).toThrow('the node is closed')
    expect(() => node.peers?.list()).toThrow('the node is closed')
    await expect(node.synced({ timeout: -1 })).rejects.toThrow()
  })

  it.each([
    [{ network: 'devnet', peers: ['127.0.0.1:1'] }, /devnet has one node/],
    [{ network: 'devnet', listen: true }, /devnet has one node/],
    [{ network: 'devnet', validatorKey: '01'.repeat(32), dataDir: 'x' }, /validatorKey: devnet is a devnet/],
    [{ network: 'pow', validatorKey: '01'.repeat(32), dataDir: 'x' }, /without validators/],
    [{ network: 'localnet', validatorKey: '01'.repeat(32) }, /dataDir is needed too/],
    [{ network: 'localnet', validatorKey: '01', dataDir: 'x' }, /32 bytes or 64 hex digits/],
    [{ network: 'localnet', validatorKey: '00'.repeat(32), dataDir: 'x' }, /32 bytes or 64 hex digits/],
    [{ network: 'localnet', validatorKey: 'validator-1.key', dataDir: 'x' }, /32 bytes or 64 hex digits/],
    [{ network: 'localnet', resetSignState: 'now' }, /with a validatorKey/],
    [{ network: 'localnet', validatorKey: '01'.repeat(32), dataDir: 'x', resetSignState: true }, /'next' or 'now'/],
    [{ network: 'pow', peers: '127.0.0.1:1' }, /peers: a list/],
    [{ network: 'pow', peers: new Array(65).fill('127.0.0.1:1') }, /at most 64/],
    [{ network: 'pow', peers: [5] }, /peers: 5 is neither/],
    [{ network: 'pow', peers: ['127.0.0.1'] }, /peers: 127\.0\.0\.1 is neither host:port/],
    [{ network: 'pow', peers: ['127.0.0.1:99999'] }, /is neither host:port/],
    [{ network: 'pow', listen: null }, /listen: neither true/],
    [{ network: 'pow', listen: { port: 65_536 } }, /listen\.port: 65536 is not a whole number/],
    [{ network: 'pow', listen: { hosts: ['localhost'] } }, /listen\.hosts: a list of IP addresses/],
    [
      { network: 'pow', listen: { port: 0, host: ['127.0.0.1'] } },
      /host is no option of listen; there are port, hosts/,
    ],
    [{ network: 'pow', listen: { hosts: [] } }, /listen\.hosts: a list of IP addresses/],
    [{ network: 'pow', mdns: 'yes' }, /mdns: it is true or false/],
    [{ network: 'pow', assumeValid: '5', peers: [] }, /assumeValid: it is a height, a colon/],
    [{ network: 'pow', assumeValid: `5:${'ab'.repeat(32)}` }, /assumeValid: a node without peers/],
  ])('refuses %j', async (options, reason) => {
    await expect(createNode(options as CreateNodeOptions)).rejects.toThrow(reason)
  })
})
