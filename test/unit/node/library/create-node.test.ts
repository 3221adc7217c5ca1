import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { RuleError, UserError } from '../../../../src/base/errors/rule-error.js'
import { createNode, HttpResolver, type CreateNodeOptions, type LedgerNode } from '../../../../src/index.js'
import { formatPrivateKey, formatPublicKey } from '../../../../src/base/crypto/key-forms.js'
import { operationJson } from '../../../../src/base/primitives/did-operation.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { accountOf } from '../../../../src/clients/wallet/accounts.js'
import { oneValidator, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { holder, issueCredential } from '../../../support/builders/did.js'
import { quickSigner } from '../../../support/builders/signatures.js'
import { whileCollecting } from '../../../support/assert/heap-probe.js'
import { testPublicKey, testSpec } from '../../../support/builders/spec.js'

let open: LedgerNode[] = []
let directories: string[] = []

afterEach(async () => {
  await Promise.all(open.map((node) => node.close()))
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  open = []
  directories = []
})

async function start(options: CreateNodeOptions = { network: 'devnet' }): Promise<LedgerNode> {
  const node = await createNode(options)
  open.push(node)
  return node
}

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'didledger-embedded-'))
  directories.push(path)
  return path
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => (error instanceof RuleError ? error.code : String(error)),
  )
}

describe('a transfer', () => {
  it('of all leaves nothing, the fee out of the amount costs the payee, and coins are joined', async () => {
    const node = await start()
    const [ada, bob] = [node.wallet.account(0), node.wallet.account(1)]
    const [had, before] = [node.chain.balance(ada.address), node.chain.balance(bob.address)]
    const given = { from: ada, to: bob.address, amount: '2', fee: 1000n, feeFromAmount: true }
    await node.chain.waitFor(await node.wallet.transfer(given))
    expect([had - node.chain.balance(ada.address), node.chain.balance(bob.address) - before]).toEqual([
      200_000_000n,
      199_999_000n,
    ])
    const sent = await node.chain.waitFor(await node.wallet.transfer({ from: ada, to: bob.address, amount: 'all' }))
    expect(sent.transaction.outputs).toHaveLength(1)
    expect(node.chain.balance(ada.address)).toBe(0n)
    const joined = await node.wallet.merge({ from: bob })
    expect(joined).toHaveLength(1)
    await node.chain.waitFor(joined[0] as string)
    expect(await node.chain.coins(bob.address)).toHaveLength(1)
    await expect(node.wallet.merge({ from: bob })).rejects.toThrow('there is nothing to join')
  })
})

describe('createNode', () => {
  it('runs a devnet whose accounts pay and have DIDs, without listening anywhere', async () => {
    const node = await start()
    expect(node.name).toBe('devnet')
    expect(node.api).toBeUndefined()
    expect(node.wallet.accounts).toHaveLength(10)
    const [ada, bob] = [node.wallet.account(0), node.wallet.account(1)]
    const before = node.chain.balance(bob.address)
    const paid = await node.wallet.transfer({ from: ada, to: bob.address, amount: '2.5', fee: 1000n })
    const { height, transaction, blockhash, confirmations } = await node.chain.waitFor(paid)
    expect([height, transaction.txid, confirmations]).toEqual([1, paid, 1])
    expect(node.chain.tip).toMatchObject({ hash: blockhash, height: 1 })
    expect(node.chain.balance(bob.address) - before).toBe(250_000_000n)
    const coins = await node.chain.coins(bob.address)
    expect(coins).toContainEqual({ txid: paid, index: 0, value: 250_000_000n, height: 1 })
    expect((await node.chain.block(1))?.hash).toBe(blockhash)
    expect((await node.chain.block(blockhash))?.transactions[1]?.txid).toBe(paid)
    expect(await node.chain.block(2)).toBeUndefined()
    expect((await node.chain.block(0))?.hash).toBe(node.chain.genesis)

    const { did, txid } = await node.wallet.createDid({ account: ada })
    expect(did).toBe(ada.did)
    await node.chain.waitFor(txid)
    expect(await node.resolver.resolve(did)).toMatchObject({ did, status: 0, transaction: [{ txid }] })
    // Two updates in a row: the second follows the first, mined or not.
    const service = (name: string) => ({ id: `#${name}`, type: 'Home', serviceEndpoint: 'https://example.org' })
    const first = await node.wallet.updateDid({ account: ada, addServices: [service('a')] })
    const second = await node.wallet.updateDid({ account: ada, addServices: [service('b')], payer: bob })
    await node.chain.waitFor(second.txid)
    const { transaction: history = [] } = await node.resolver.resolve(did, { all: true })
    expect(history.map((entry) => entry.txid)).toEqual([second.txid, first.txid, txid])
    const end = await node.wallet.deactivateDid({ account: ada })
    await node.chain.waitFor(end.txid)
    expect((await node.resolver.resolve(did)).status).toBe(2)
  })

  it('declares and revokes credentials, also while updates of the DID wait', async () => {
    const node = await start({ network: 'devnet', mining: 'manual' })
    const [ada, bob] = [node.wallet.account(0), node.wallet.account(1)]
    await node.wallet.createDid({ account: ada })
    await node.wallet.createDid({ account: bob })
    await node.devnet?.mine()
    const id = `${ada.did}#profile`
    const credential = issueCredential(bob.did, quickSigner(bob.privateKey), ada.did, {})
    expect(await node.resolver.resolveCredential(id)).toEqual({ id, status: 3 })

    // The update after the declare follows the create: a declare changes no document.
    const declared = await node.wallet.declareCredential({ account: ada, credential: JSON.parse(credential) as object })
    expect(declared.did).toBe(ada.did)
    const service = { id: '#a', type: 'Home', serviceEndpoint: 'https://example.org' }
    const updated = await node.wallet.updateDid({ account: ada, addServices: [service] })
    await node.devnet?.mine()
    expect(await node.resolver.resolve(ada.did)).toMatchObject({ transaction: [{ txid: updated.txid }] })
    expect(await node.resolver.resolveCredential(id)).toMatchObject({
      status: 0,
      transaction: [{ txid: declared.txid }],
    })
    expect(await node.resolver.listCredentials(ada.did)).toEqual({ did: ada.did, credentials: [id] })
    expect((await node.resolver.listCredentials(ada.did, { skip: 1, limit: 2 })).credentials).toEqual([])

    const revoked = await node.wallet.revokeCredential({ account: bob, id, payer: ada })
    await node.devnet?.mine()
    const { status, transaction } = await node.resolver.resolveCredential(id)
    expect([status, transaction?.map(({ txid }) => txid)]).toEqual([2, [revoked.txid, declared.txid]])
    expect(await codeOf(node.wallet.declareCredential({ account: ada, credential }))).toBe('credential-declared')
    expect(await codeOf(node.wallet.declareCredential({ account: ada, credential: '{}' }))).toBe('document-form')
    expect(await codeOf(node.wallet.declareCredential({ account: bob, credential }))).toContain('only its holder')
    expect(await codeOf(node.wallet.revokeCredential({ account: ada, id: '#x' }))).toContain('is no id of a credential')
  })

  it.each([
    [{ id: 5 }, {}],
    [{ id: 'did:ledger:x#y' }, { issuer: 5 }],
  ])('refuses to resolve the credential %o', async ({ id }, options) => {
    const node = await start()
    expect(await codeOf(node.resolver.resolveCredential(id as string, options as object))).toBe('request-parameter')
  })

  it.each([
    [5, {}],
    ['did:ledger:x', { skip: -1 }],
    ['did:ledger:x', { limit: 0.5 }],
  ])('refuses to list the credentials of %o, %o', async (did, page) => {
    const node = await start()
    expect(await codeOf(node.resolver.listCredentials(did as string, page))).toMatch(/request-parameter|skip|limit/)
  })

  it('signs no value that JSON would change, and names the path to it', async () => {
    const node = await start({ network: 'devnet' })
    const account = node.wallet.account(0)
    const services = (n: unknown) => [{ id: '#a', type: 'T', serviceEndpoint: 'https://x.example', n }]
    const said = (where: string) => `${where}.n: there is no JSON form of this undefined`
    await expect(node.wallet.createDid({ account, services: services(undefined) })).rejects.toThrow(said('services[0]'))
    await node.chain.waitFor((await node.wallet.createDid({ account, services: services([1.5, null]) })).txid)
    const update = node.wallet.updateDid({ account, addServices: services(undefined) })
    await expect(update).rejects.toThrow(said('addServices[0]'))
    for (const format of ['ledger', 'jwt'] as const) {
      const issue = (b: unknown) =>
        node.wallet.issueCredential({ account, id: 'x', types: ['T'], claims: { a: { b } }, format })
      expect(issue([1, null])).toBeTypeOf('string')
      for (const b of [Number.NaN, Infinity, 10n, undefined, () => 1, new Map(), Uint8Array.of(1), Array(1)]) {
        expect(() => issue(b)).toThrow(/^claims\.a\.b(\[0\])?: (there is no JSON form of|\w+ is no number)/)
      }
    }
  })

  it('takes operations and transactions that others made', async () => {
    const node = await start()
    const own = holder()
    const txid = await node.wallet.publish(operationJson(own.create()), { account: node.wallet.account(3) })
    const { transaction } = await node.chain.waitFor(txid)
    expect((await node.resolver.resolve(own.did)).status).toBe(0)
    expect(await codeOf(node.mempool.send(transaction))).toBe('tx-known')
    expect(await codeOf(node.mempool.send(transaction.toHex()))).toBe('tx-known')
    expect(await codeOf(node.mempool.send('zz'))).toBe('tx-malformed')
  })

  it('sends at the same time without spending a coin twice', async () => {
    const node = await start({ network: 'devnet', mining: 'manual' })
    const [ada, bob] = [node.wallet.account(0), node.wallet.account(1)]
    const sent = await Promise.all(
      Array.from({ length: 5 }, () => node.wallet.transfer({ from: ada, to: bob.address, amount: 1n })),
    )
    expect(new Set(sent).size).toBe(5)
    expect(node.mempool.size).toBe(5)
    expect(node.mempool.bytes).toBeGreaterThan(500)
    expect(
      node.mempool
        .entries()
        .map(({ transaction }) => transaction.txid)
        .sort(),
    ).toEqual([...sent].sort())
    expect(node.mempool.get(sent[0] as string)).toBeInstanceOf(Transaction)
    const waiting = Promise.all(sent.map((txid) => node.chain.waitFor(txid)))
    await node.devnet?.mine()
    expect((await waiting).map(({ height }) => height)).toEqual([1, 1, 1, 1, 1])
    expect(node.mempool.size).toBe(0)
  })

  it('changes keys, signs with any key of a DID, and refuses members that it does not know', async () => {
    const node = await start()
    const [ada, bob] = [node.wallet.account(0), node.wallet.account(1)]
    await node.wallet.createDid({ account: ada })
    const laptop = { name: 'laptop', publicKey: formatPublicKey(bob.publicKey, 'pem') }
    await node.wallet.updateDid({ account: ada, addKeys: [laptop] })
    const signWith = formatPrivateKey(bob.privateKey, 'jwk')
    const { txid } = await node.wallet.updateDid({ account: ada, removeKeys: ['recovery'], signWith })
    await node.chain.waitFor(txid)
    const { transaction } = await node.resolver.resolve(ada.did, { all: false })
    expect(transaction?.[0]?.operation.proof.verificationMethod).toBe('#laptop')
    const revoked = { account: bob, did: ada.did, signWith, id: `${ada.did}#degree` }
    expect(await node.wallet.revokeCredential(revoked)).toMatchObject({ did: ada.did })
    expect(await node.wallet.deactivateDid({ account: bob, did: ada.did, signWith })).toMatchObject({ did: ada.did })
    const odd = { account: ada, payee: bob } as never
    for (const [name, call] of Object.entries({
      createDid: () => node.wallet.createDid(odd),
      updateDid: () => node.wallet.updateDid(odd),
      deactivateDid: () => node.wallet.deactivateDid(odd),
      declareCredential: () => node.wallet.declareCredential(odd),
      revokeCredential: () => node.wallet.revokeCredential(odd),
      publish: () => node.wallet.publish({} as never, odd),
    })) {
      expect(await codeOf(call())).toContain(`payee is no option of ${name}; there are account, payer, fee`)
    }
    const transfer = { from: ada, to: bob.address, amount: 1n, memo: '' } as never
    expect(await codeOf(node.wallet.transfer(transfer))).toContain('memo is no option of transfer')
  })

  it('survives what callers get wrong, and says what it is', async () => {
    const node = await start()
    const [ada, bob] = [node.wallet.account(0), node.wallet.account(1)]
    const pay = (to: string, amount: string | bigint) => node.wallet.transfer({ from: ada, to, amount })
    expect(await codeOf(pay('nowhere', 1n))).toBe('request-parameter')
    expect(await codeOf(pay(bob.address, '1.123456789'))).toBe('request-parameter')
    expect(await codeOf(pay(bob.address, -1n))).toBe('request-parameter')
    expect(await codeOf(pay(bob.address, 0n))).toContain('above zero')
    expect(await codeOf(pay(bob.address, '20000'))).toContain('not enough coins')
    expect(await codeOf(node.wallet.updateDid({ account: ada }))).toBe('did-unknown')
    expect(await codeOf(node.wallet.deactivateDid({ account: ada, did: 'x' }))).toBe('request-parameter')
    expect(await codeOf(node.wallet.createDid({ account: ada, expires: 'soon' }))).toBe('document-date')
    expect(await codeOf(node.chain.waitFor('12'))).toBe('request-parameter')
    const nobody = () => codeOf(node.chain.waitFor('0'.repeat(64), { timeout: 200 }))
    expect(await whileCollecting(nobody)).toContain('no block took it in time')
    for (const timeout of [-1, 1.5, NaN, Infinity, 2 ** 31]) {
      expect(await codeOf(node.chain.waitFor('0'.repeat(64), { timeout }))).toContain('timeout')
    }
    for (const height of [-1, 1.5, NaN, 2 ** 32]) expect(await codeOf(node.chain.block(height))).toContain('height')
    for (const wrong of [5, undefined, null] as unknown[]) {
      expect(await codeOf(pay(bob.address, wrong as string))).toBe('request-parameter')
      expect(await codeOf(pay(wrong as string, 1n))).toBe('request-parameter')
      expect(await codeOf(node.resolver.resolve(wrong as string))).toBe('request-parameter')
    }
    expect(await codeOf(node.chain.acceptBlock(new Uint8Array(3)))).toBe('block-malformed')
    expect(await codeOf(node.resolver.resolve('did:other:x'))).toBe('request-parameter')
    await node.chain.waitFor(await pay(bob.address, '1'))
  })

  it('tells what happens, with the numbers of its log', async () => {
    const node = await start({ network: 'devnet', mining: 'manual' })
    const told: unknown[] = []
    const stops = [
      node.events.on('block', (event) => told.push(event)),
      node.events.on('transaction', (event) => told.push(event)),
      node.events.on('did', (event) => told.push(event)),
      node.events.on('block', () => {
        throw new Error('a listener of mine')
      }),
    ]
    const { did, txid } = await node.wallet.createDid({ account: node.wallet.account(0) })
    const [hash = ''] = (await node.devnet?.mine()) ?? []
    expect(told).toEqual([
      expect.objectContaining({ topic: 'transaction', action: 'apply', txid, type: 10 }),
      expect.objectContaining({ action: 'apply', did, operation: 'create', txid, height: 1, blockhash: hash }),
      expect.objectContaining({ action: 'apply', height: 1, hash, previousblockhash: node.chain.genesis }),
    ])
    const [first = NaN, ...rest] = (told as { number: number }[]).map(({ number }) => number)
    expect(rest).toEqual([first + 1, first + 2])
    for (const stop of stops) stop()
    await node.devnet?.mine()
    expect(told).toHaveLength(3)
  })

  it('takes a devnet back to a snapshot and tells it', async () => {
    const node = await start()
    const snapshot = await node.devnet?.snapshot()
    const { did, txid } = await node.wallet.createDid({ account: node.wallet.account(0) })
    await node.chain.waitFor(txid)
    const told: string[] = []
    node.events.on('did', ({ action, operation }) => told.push(`${action} ${operation}`))
    node.events.on('block', ({ action, height }) => told.push(`${action} ${height}`))
    await node.devnet?.revert(snapshot as number)
    expect(told).toEqual(['revert create', 'revert 1'])
    expect(node.chain.height).toBe(0)
    expect((await node.resolver.resolve(did)).status).toBe(3)
  })

  it('takes blocks of a chain without validators, and reorganises', async () => {
    const [short, long] = await Promise.all([TestChain.open(), TestChain.open()])
    long.clock.time += 5000
    const node = await start({ spec: testSpec({ maturity: 2, ...withoutValidators }) })
    expect(node.chain.genesis).toBe(short.chain.genesis.hash)
    const told: string[] = []
    node.events.on('block', ({ action, height }) => told.push(`${action} ${height}`))
    const [one] = await short.mine()
    expect(await node.chain.acceptBlock(one?.bytes ?? new Uint8Array(0))).toBe('connected')
    const taken = []
    for (const { bytes } of await long.mine(2)) taken.push(await node.chain.acceptBlock(bytes))
    expect(taken).toEqual(['side', 'connected'])
    expect(told).toEqual(['apply 1', 'revert 1', 'apply 1', 'apply 2'])
    expect(node.chain.tip.hash).toBe(long.chain.tip.header.id)
    expect((await node.chain.block(one?.hash ?? ''))?.hash).toBe(one?.hash)
  })

  it('finds documents, in this process and from another', async () => {
    const node = await start({ network: 'devnet', api: { portBase: 0 } })
    const services = [{ id: '#home', type: 'Home', serviceEndpoint: 'https://example.org' }]
    for (const index of [0, 1]) {
      const { txid } = await node.wallet.createDid({ account: node.wallet.account(index), services })
      await node.chain.waitFor(txid)
    }
    const found = await node.resolver.query({ service: 'Home', skip: 1 })
    expect(found).toMatchObject({ total: 2, start: 1, count: 1, document: [{ id: node.wallet.account(1).did }] })
    const remote = new HttpResolver(node.api?.rpc ?? '')
    expect(await remote.query({ query: { service: { type: 'Home' } }, skip: 1 })).toEqual(found)
    const wrong = { service: 'Home', credential: 'Profile' }
    expect(await codeOf(node.resolver.query(wrong))).toBe('query-invalid')
    expect(await codeOf(remote.query(wrong))).toBe('query-invalid')
  })

  it('moves the clock of a devnet and pays from its faucet', async () => {
    const node = await start()
    const { devnet } = node
    if (devnet === undefined) throw new Error('a devnet has one')
    const { time } = node.chain.tip
    expect(await devnet.increaseTime(86_400)).toBeGreaterThan(time)
    await devnet.setNextBlockTime(2_000_000_000)
    const account = node.wallet.account(50)
    await node.chain.waitFor(await devnet.faucet(account.address, '7'))
    expect(node.chain.tip.time).toBe(2_000_000_000)
    expect(node.chain.balance(account.address)).toBe(700_000_000n)
    // Five years from the clock that the chain lives by.
    const { did, txid } = await node.wallet.createDid({ account })
    await node.chain.waitFor(txid)
    expect((await node.resolver.resolve(did)).status).toBe(0)
  })

  it('does not listen when asked not to', async () => {
    expect((await start({ network: 'devnet', api: false })).api).toBeUndefined()
  })

  it('listens when asked to, and only until it is closed', async () => {
    const node = await start({ network: 'devnet', api: { portBase: 0 } })
    const { rest = '', rpc = '' } = node.api ?? {}
    const { did, txid } = await node.wallet.createDid({ account: node.wallet.account(0) })
    await node.chain.waitFor(txid)
    const remote = new HttpResolver(rpc)
    expect(await remote.resolve(did, { all: true })).toEqual(
      JSON.parse(JSON.stringify(await node.resolver.resolve(did, { all: true }))),
    )
    expect(await (await fetch(`${rest}/api/v1/block/height`)).json()).toMatchObject({ Result: 1 })
    await node.close()
    expect(await codeOf(remote.resolve(did))).toContain('no node listens')
  })

  it('names the address where it listens, and funds as many accounts as it is told', async () => {
    const node = await start({ network: 'devnet', accounts: 12, api: { portBase: 0, hosts: ['::1'] } })
    expect(node.api?.rest).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect(node.api?.ws).toMatch(/^ws:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${node.api?.rest}/api/v1/block/height`)).status).toBe(200)
    expect(node.wallet.accounts).toHaveLength(12)
    for (const { address } of node.wallet.accounts) expect(node.chain.balance(address)).toBe(1_000_000_000_000n)
  })

  it('mines on a chain without validators when it is told whom to pay', async () => {
    const { address } = accountOf(testPublicKey(1), 0)
    const node = await start({ network: 'pow', mineTo: address })
    const mined = new Promise((resolve) => node.events.on('block', resolve))
    await mined
    expect(node.chain.balance(address)).toBeGreaterThan(0n)
  })

  it('takes an address to pay where miners make the blocks of validators', async () => {
    const { address } = accountOf(testPublicKey(1), 0)
    const node = await start({ spec: testSpec({ ...oneValidator(), producer: 'miners' }), mineTo: address })
    expect(node.chain.height).toBe(0)
  })

  it('keeps its chain in the directory it is given, and nothing of a temporary one', async () => {
    const dataDir = directory()
    const first = await start({ network: 'devnet', dataDir })
    const { did, txid } = await first.wallet.createDid({ account: first.wallet.account(0) })
    await first.chain.waitFor(txid)
    await first.close()
    const second = await start({ network: 'devnet', dataDir })
    expect(second.dataDir).toBe(dataDir)
    expect((await second.resolver.resolve(did)).status).toBe(0)
    const temporary = await start()
    expect(existsSync(temporary.dataDir)).toBe(true)
    await temporary.close()
    expect(existsSync(temporary.dataDir)).toBe(false)
  })

  it('refuses a directory that another node of the process uses, until that one is closed', async () => {
    const dataDir = directory()
    const first = await start({ network: 'devnet', dataDir })
    expect(await codeOf(createNode({ network: 'devnet', dataDir }))).toContain('of another node in this process')
    await first.close()
    await start({ network: 'devnet', dataDir })
    // A start that fails gives the directory back.
    const other = directory()
    expect(
      await codeOf(
        createNode({ network: 'devnet', dataDir: join(other, 'x'), api: { portBase: 0, hosts: ['300.1.1.1'] } }),
      ),
    ).not.toBe('resolved')
    await start({ network: 'devnet', dataDir: join(other, 'x') })
  })

  it('shares nothing with other nodes of the process', async () => {
    const nodes = await Promise.all([
      start(),
      start({ network: 'devnet', mining: 'manual' }),
      start({ network: 'pow' }),
    ])
    const [one, two, pow] = nodes
    const { did, txid } = await one.wallet.createDid({ account: one.wallet.account(0) })
    await one.chain.waitFor(txid)
    await two.devnet?.mine(3)
    expect(nodes.map(({ chain }) => chain.height)).toEqual([1, 3, 0])
    expect((await one.resolver.resolve(did)).status).toBe(0)
    expect((await two.resolver.resolve(did)).status).toBe(3)
    expect((await pow.resolver.resolve(did)).status).toBe(3)
    expect(pow.devnet).toBeUndefined()
    expect(pow.wallet.accounts).toEqual([])
    expect(() => pow.wallet.account(0)).toThrow(UserError)
    await one.close()
    await two.devnet?.mine()
    expect(two.chain.height).toBe(4)
    expect(pow.chain.height).toBe(0)
  })

  it('takes a chain spec as object or text', async () => {
    const text = readFileSync(new URL('../../../../genesis/devnet.json', import.meta.url), 'utf8')
    const spec = { ...(JSON.parse(text) as Record<string, unknown>), name: 'mine' }
    const [object, same, shipped] = await Promise.all([start({ spec }), start({ spec: JSON.stringify(spec) }), start()])
    expect(object.name).toBe('mine')
    expect(object.chain.genesis).toBe(same.chain.genesis)
    expect(object.chain.genesis).not.toBe(shipped.chain.genesis)
  })

  it.each([
    [undefined, /an object with options/],
    [null, /an object with options/],
    [{}, /either network/],
    [{ network: 'devnet', api: { port: 1 } }, /port is no option of api; there are portBase, hosts/],
    [{ network: 'devnet', datadir: 'x' }, /datadir is no option of createNode; there are network, spec, dataDir/],
    [{ network: 'devnet', dataDir: '' }, /dataDir/],
    [{ network: 'devnet', dataDir: 5 }, /dataDir/],
    [{ network: 'devnet', mining: 'x' }, /mining/],
    [{ network: 'devnet', mining: null }, /mining/],
    [{ network: 'devnet', api: null }, /api/],
    [{ network: 'devnet', api: 'yes' }, /api/],
    [{ network: 'devnet', api: { portBase: -1 } }, /api\.portBase/],
    [{ network: 'devnet', api: { portBase: 65_528 } }, /api\.portBase/],
    [{ network: 'devnet', api: { hosts: '127.0.0.1' } }, /api\.hosts/],
    [{ network: 'pow', mineTo: 'XKUh4GLhFJiqAMTF6HyWQrV9pK9HcGUdfJ' }, /mineTo/],
    [{ network: 'devnet', spec: '{}' }, /either network/],
    [{ network: 'mainnet' }, /none of devnet, localnet, pow/],
    [{ spec: '{' }, /not valid/],
    [{ spec: './corp.json' }, /a file has to be read first/],
    [{ spec: { name: 'x' } }, /not valid/],
    [{ network: 'devnet', mining: { seconds: 0 } }, /seconds/],
    [{ network: 'devnet', accounts: 101 }, /accounts/],
    [{ network: 'devnet', api: { portBase: 0, hosts: [] } }, /hosts/],
    [{ network: 'pow', mineTo: 'me' }, /address/],
    [{ network: 'devnet', mineTo: 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG' }, /mineTo: devnet is a devnet/],
    [{ network: 'localnet', mineTo: 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG' }, /mineTo: on localnet validators make/],
  ])('refuses %j', async (options, reason) => {
    await expect(createNode(options as CreateNodeOptions)).rejects.toThrow(reason)
  })

  it('closes once, ends those who wait, and answers nothing afterwards', async () => {
    const node = await start({ network: 'devnet', mining: 'manual' })
    const txid = await node.devnet?.faucet(node.wallet.account(0).address, 1000n)
    const warned = vi.fn()
    process.on('warning', warned)
    const waiting = Promise.all(Array.from({ length: 30 }, () => codeOf(node.chain.waitFor(txid as string))))
    await Promise.all([node.close(), node.close()])
    await node.close()
    for (const end of await waiting) expect(end).toContain('the node is closed')
    process.off('warning', warned)
    expect(warned).not.toHaveBeenCalled()
    expect(() => node.chain.height).toThrow('the node is closed')
    expect(() => node.mempool.size).toThrow('the node is closed')
    expect(await codeOf(node.resolver.resolve('x'))).toContain('the node is closed')
    expect(await codeOf(node.devnet?.mine() ?? Promise.resolve())).toContain('the node is closed')
    const { address } = node.wallet.accounts[0] ?? { address: '' }
    expect(await codeOf(node.devnet?.faucet(address, 1n) ?? Promise.resolve())).toContain('the node is closed')
  })
})
