import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'
import { createNode, type CreateNodeOptions } from '../../../../src/index.js'
import { type ShippedSpec, shippedSpecFile } from '../../../../src/node/library/shipped.js'
import type { LightError } from '../../../../src/clients/light/light-error.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { Reader } from '../../../../src/base/primitives/codec.js'
import { Header } from '../../../../src/base/primitives/header.js'
import { genesisBlock } from '../../../../src/base/primitives/genesis.js'
import { devnetAccount, devnetValidatorKey } from '../../../../src/clients/wallet/devnet-accounts.js'
import { lightOver, lightWorld, type LightWorld, worldTime } from '../../../support/builders/light-world.js'
import { type LightHttp, serveProofs } from '../../../support/fakes/light-http.js'
import { type Json, type Lies, lightServers } from '../../../support/fakes/light-server.js'
import { type Ran, Workbench } from '../../../support/process/workbench.js'

/** So late that Trusts of these chains are too old, and their documents are valid. */
const now = worldTime + 40 * 24 * 3600
const bench = Object.assign(new Workbench(), { now })
afterAll(() => bench.close())

const root = ['--allow-old-root']
const depth = 6

const worlds = [
  ['whose validators changed', lightWorld({ changeAt: 9, genesis: 'changed' })],
  ['of miners', lightWorld({ miners: true, genesis: 'mined' })],
] as const

describe.each(worlds)('did prove and did verify, on a chain %s', (_, world) => {
  const { book, alice, bob, kept, revoked } = world
  const isMined = book.teams.length === 0
  const deep = isMined ? book.tip.height - depth : book.tip.height
  // Nodes of a chain without validators prove what will not be given up.
  const honest: Lies = isMined ? { answer: (_, asked) => deepAnswer(world, asked, deep) } : {}
  let node: LightHttp
  let trust: string

  beforeAll(async () => {
    node = await serveProofs(book, honest)
    trust = bench.write(`trust-${isMined}.json`, JSON.stringify(book.trust()))
  })
  afterAll(() => node.close())

  const prove = (...args: string[]) => bench.run('did', 'prove', ...args, '--rest', node.url)
  const verify = (file: string, ...args: string[]) => bench.run('did', 'verify', file, '--trust', trust, ...args)
  const bundleOf = async (...args: string[]) => JSON.parse((await prove(...args)).out) as Json

  it('shows what a bundle proves, without a node', async () => {
    const { code, out, err } = await prove(alice.did)
    expect([code, err]).toEqual([0, ''])
    const { id, time } = book.page(deep).block.header
    const shown = await verify(bench.write('bundle.json', out), ...root)
    expect(shown).toMatchObject({ code: 0, err: '' })
    const lines = shown.out.split('\n')
    expect(lines[0]).toBe(`${alice.did} is valid.`)
    expect(lines.slice(1, 6)).toEqual([
      `  height      ${deep}  ${id}`,
      `  time        ${new Date(time * 1000).toISOString().replace('.000', '')}`,
      `  age         ${now - time} s`,
      '  operations  1 of 3 shown',
      `  trust root  genesis of ${trust}${isMined ? '' : ', which is older than 30 days'}`,
    ])
    expect(shown.out).toContain(`"id": "${alice.did}#two"`)
  })

  it('has every operation with --all, and tells programs what was proved', async () => {
    const file = bench.write('all.json', (await prove(alice.did.slice('did:ledger:'.length), '--all')).out)
    const shown = JSON.parse((await verify(file, '--json', ...root)).out) as Json
    expect(shown).toMatchObject({ did: alice.did, status: 0, proved: { height: deep, history: { count: 3 } } })
    expect(shown.transaction.map(({ txid }: Json) => txid)).toEqual([...world.versions].reverse())
  })

  it.each([
    ['a deactivated DID', bob.did, `${bob.did} is deactivated.`],
    ['a DID that does not exist', 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', 'does not exist on this chain.'],
    ['a credential', kept, `${kept} is declared.`],
    ['a credential that its issuer revoked', revoked, `${revoked} is revoked.`],
  ])('proves %s', async (_, id, said) => {
    const shown = await verify(bench.write('other.json', (await prove(id)).out), ...root)
    expect(shown).toMatchObject({ code: 0, err: '' })
    expect(shown.out.split('\n')[0]).toContain(said)
  })

  it('says who signed only where that was checked', async () => {
    const alone = await verify(bench.write('alone.json', (await prove(alice.did)).out), ...root)
    expect(alone.out).toContain('  signature not checked\n')
    expect(alone.out).not.toContain('signed by')
    const all = await verify(bench.write('all.json', (await prove(alice.did, '--all')).out), ...root)
    expect(all.out.match(/ {2}signed by #primary\n/g)).toHaveLength(3)
    const bundle = await bundleOf(alice.did, '--all')
    bundle.answer.transaction[0].operation.proof.verificationMethod = '#stolen-key'
    expectFailure(await verify(bench.write('stolen.json', JSON.stringify(bundle)), ...root), 'answer-signature')
    const one = await bundleOf(alice.did)
    one.answer.transaction[0].operation.proof.verificationMethod = '#stolen-key'
    const shown = await verify(bench.write('one.json', JSON.stringify(one)), ...root)
    expect(shown).toMatchObject({ code: 0, out: alone.out })
    const credential = await verify(bench.write('id.json', (await prove(kept)).out), ...root)
    expect(credential.out).toContain(`  by ${kept.slice(0, kept.indexOf('#'))}\n`)
  })

  it('does not say whether a DID is valid beside an earlier version', async () => {
    const [versionId = ''] = world.versions
    for (const status of [0, 1]) {
      const answer = { ...book.answer(alice.did, { versionId, height: deep }), status }
      const bundle = { ...(await bundleOf(alice.did)), asked: { did: alice.did, versionId }, answer }
      const { out } = await verify(bench.write('version.json', JSON.stringify(bundle)), ...root)
      expect(out.split('\n')[0]).toBe(
        `${alice.did} exists. An earlier version is shown: whether the DID is valid now is not proved.`,
      )
    }
  })

  it('begins at a checkpoint', async () => {
    const file = bench.write('bundle.json', (await prove(alice.did)).out)
    const checkpoint = bench.write('checkpoint.json', JSON.stringify(book.checkpoint(8)))
    const shown = await verify(file, '--checkpoint', checkpoint)
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining(`the block of ${checkpoint}`) })
    const wrong = { ...book.checkpoint(8), ...(isMined ? { hash: '00'.repeat(32) } : { keysHash: '00'.repeat(32) }) }
    const refused = await verify(file, '--checkpoint', bench.write('wrong.json', JSON.stringify(wrong)))
    expectFailure(refused, isMined ? 'checkpoint-hash' : 'checkpoint-keys')
  })

  it.each<[string, string, (bundle: Json) => void, string[]?]>([
    ['another document', 'answer-transaction', ({ answer }) => swap(answer.transaction[0].operation, 'payload')],
    ['another status', 'answer-status', ({ answer }) => (answer.status = 1)],
    ['a dropped entry', 'path-root', ({ answer }) => dropFirst(answer.proof.maps[0].history)],
    ['another name', 'answer-did', ({ asked }) => (asked.did = bob.did)],
    ['no proof', 'proof-missing', ({ answer }) => delete answer.proof],
    ['an older answer than is wanted', 'stale', () => {}, ['--max-age', '3600']],
    isMined
      ? ['headers left out', 'work-chain', (bundle) => (bundle.headers = [])]
      : ['changes left out', 'confirm-signature', (bundle) => (bundle.changes = [])],
  ])('refuses a bundle with %s as %s', async (_, failure, change, options = []) => {
    const bundle = await bundleOf(alice.did, '--all')
    change(bundle)
    expectFailure(await verify(bench.write('lie.json', JSON.stringify(bundle)), ...root, ...options), failure)
  })

  it('refuses a bundle of another chain, whatever kind of chain that is', async () => {
    const file = bench.write('bundle.json', (await prove(alice.did)).out)
    for (const name of ['devnet', 'pow']) {
      const refused = await bench.run('did', 'verify', file, '--trust', name, ...root)
      expectFailure(refused, 'chain')
      expect(refused.err).toContain('it belongs to another chain than the one that is trusted')
    }
  })
})

describe('did prove', () => {
  const world = lightWorld({ genesis: 'proving' })
  const { book, alice, kept } = world

  it('takes the first of several nodes that proves the answer', async () => {
    const [mute, right] = [
      await serveProofs(book, { answer: ({ did, status }) => ({ did, status }) }),
      await serveProofs(book),
    ]
    onTestFinished(async () => void (await Promise.all([mute.close(), right.close()])))
    const nodes = ['--rest', 'http://127.0.0.1:2', '--rest', mute.url, '--rest', right.url]
    expect(await bench.run('did', 'prove', alice.did, ...nodes)).toMatchObject({ code: 0, err: '' })
    const none = await bench.run('did', 'prove', alice.did, ...nodes.slice(0, 4))
    expect(none).toMatchObject({ code: 1, out: '' })
    expect(none.err).toContain('http://127.0.0.1:2: no node listens at http://127.0.0.1:2')
    expect(none.err).toContain(`${mute.url}: the node at ${mute.url} answers without a proof`)
  })

  it('follows changes of validators that come in several answers', async () => {
    const many = lightWorld({ changeAt: 9, genesis: 'many' })
    const [whole, rest] = [many.book.changes(1), many.book.changes(9)]
    const asked: number[] = []
    const node = await serveProofs(many.book, {
      changes: ({ changes }) => (asked.push(changes.length), asked.length === 1 ? { ...whole, more: true } : rest),
    })
    onTestFinished(() => node.close())
    const { out } = await bench.run('did', 'prove', alice.did, '--rest', node.url)
    expect((JSON.parse(out) as Json).changes).toEqual(JSON.parse(JSON.stringify(whole.changes)))
    expect(asked).toEqual([1, 0])
  })

  it('follows headers of miners in several answers, which may be short', async () => {
    const { book: mined, alice: owner } = worlds[1][1]
    const from: number[] = []
    const node = await serveProofs(mined, { headers: (right, at) => (from.push(at), right.slice(0, 6)) })
    onTestFinished(() => node.close())
    const { out } = await bench.run('did', 'prove', owner.did, '--rest', node.url)
    expect((JSON.parse(out) as Json).headers).toEqual(mined.headers(1, 2000))
    expect(from).toEqual([1, 7, 13, 16])
  })

  it.each<[string, Lies, string]>([
    ['changes that never end', { changes: (right) => ({ ...right, more: true }) }, 'says that more validators changed'],
    ['no changes', { changes: () => ({}) }, 'tells no changes of validators'],
  ])('does not go on with %s', async (_, lies, said) => {
    const node = await serveProofs(book, lies)
    onTestFinished(() => node.close())
    const ran = await bench.run('did', 'prove', alice.did, '--rest', node.url)
    expect(ran).toMatchObject({ code: 1, out: '', err: expect.stringContaining(said) })
  })

  it.each<[string, string[], number, string]>([
    ['no node at the URL', [alice.did, '--rest', 'http://127.0.0.1:2'], 1, 'no node listens at http://127.0.0.1:2'],
    ['what is no URL', [alice.did, '--rest', 'ftp://x'], 2, 'not a URL'],
    ['what is no DID', ['did:ledger:X'], 2, 'Not a DID of this chain'],
    ['a part of a credential’s id', ['#degree'], 2, 'Not the id of a credential'],
    ['--all of a credential', [kept, '--all'], 2, '--all is for a DID'],
    ['--issuer of a DID', [alice.did, '--issuer', alice.did], 2, '--issuer is for a credential'],
  ])('says what is wrong with %s', async (_, args, code, said) => {
    expect(await bench.run('did', 'prove', ...args)).toMatchObject({
      code,
      out: '',
      err: expect.stringContaining(said),
    })
  })
})

describe('did verify', () => {
  const { book, alice } = lightWorld({ genesis: 'verifying' })
  const trust = bench.write('trust.json', JSON.stringify(book.trust()))
  const bundle = bench.write('good.json', JSON.stringify({ format: 'didledger/bundle/1', asked: {}, answer: {} }))
  const checkpoint = bench.write('cp.json', JSON.stringify(book.checkpoint(3)))
  const spec = bench.spec

  it.each<[string, string[], number, string]>([
    ['a missing bundle', ['none.json', '--trust', trust], 1, 'cannot read the Bundle none.json'],
    ['a bundle that is no JSON', [bench.write('text', 'hello'), '--trust', trust], 1, 'is not JSON'],
    ['a Trust instead of a bundle', [trust, '--trust', trust], 1, 'this is what didledger genesis trust prints'],
    ['no trust', [bundle], 2, '--trust <name|file> is missing'],
    [
      'a missing trust',
      [bundle, '--trust', 'mainnet'],
      1,
      'a chain that comes with didledger is named devnet, localnet, pow',
    ],
    ['a spec instead of a trust', [bundle, '--trust', spec], 1, 'is no Trust: didledger genesis trust makes one'],
    [
      'a checkpoint instead of a trust',
      [bundle, '--trust', checkpoint],
      1,
      'this is what didledger chain checkpoint prints',
    ],
    [
      'a checkpoint of another chain',
      [bundle, '--trust', 'devnet', '--checkpoint', checkpoint],
      1,
      'the checkpoint is of another chain (chain)',
    ],
    [
      'a broken trust',
      [bundle, '--trust', bench.write('t', JSON.stringify({ ...book.trust(), maxAge: -1 }))],
      1,
      '-1 seconds (form)',
    ],
    ['an answer without anything in it', [bundle, '--trust', trust], 1, '(proof-missing)'],
    ['an age that is none', [bundle, '--trust', trust, '--max-age', 'x'], 2, '--max-age x: Not a whole number'],
  ])('says what is wrong with %s', async (_, args, code, said) => {
    expect(await bench.run('did', 'verify', ...args)).toMatchObject({
      code,
      out: '',
      err: expect.stringContaining(said),
    })
  })

  it('begins with no block that is too old, and says what to do', async () => {
    const { book: old, alice } = worlds[0][1]
    const node = await serveProofs(old)
    onTestFinished(() => node.close())
    const file = bench.write('old.json', (await bench.run('did', 'prove', alice.did, '--rest', node.url)).out)
    const root = bench.write('old-trust.json', JSON.stringify(old.trust()))
    const refused = await bench.run('did', 'verify', file, '--trust', root)
    expectFailure(refused, 'trust-expired')
    expect(refused.err).toContain('a newer checkpoint is needed')
    const json = await bench.run('did', 'verify', file, '--trust', root, '--json')
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: 'trust-expired' } })
  })

  it('checks evidence of a fork by the trust root alone', async () => {
    const { book: one } = lightWorld({ genesis: 'verifying' })
    const { book: other } = lightWorld({
      genesis: 'verifying',
      plan: (height) => (height === 15 ? { padding: 5 } : {}),
    })
    const servers = ['http://one', 'http://two']
    const fetch = lightServers({ one: { book: one }, two: { book: other } })
    const light = lightOver(one, {}, { servers, fetch })
    const { evidence } = (await light.resolve(alice.did).catch((error: unknown) => error)) as LightError
    const file = bench.write('evidence.json', JSON.stringify(evidence))
    const shown = await bench.run('did', 'verify', file, '--trust', trust)
    expect(shown).toMatchObject({ code: 0, err: '' })
    expect(shown.out.split('\n').slice(0, 3)).toEqual([
      'Two blocks of height 15 are confirmed.',
      ...(evidence?.headers ?? []).map(
        (header) => `  block  15  ${Header.read(new Reader(Buffer.from(header, 'hex'))).id}`,
      ),
    ])
    expect(shown.out).toMatch(/^Validators who signed both: [0-9a-f]{66}, /m)
    const wrong = bench.write(
      'no.json',
      JSON.stringify({ ...evidence, headers: [...(evidence?.headers ?? [])].reverse() }),
    )
    expectFailure(await bench.run('did', 'verify', wrong, '--trust', trust), 'confirm-form')
    expectFailure(await bench.run('did', 'verify', file, '--trust', 'devnet'), 'chain')
  })

  it('writes nothing', () => {
    expect(readFileSync(trust, 'utf8')).toBe(JSON.stringify(book.trust()))
  })
})

describe('did prove, did verify and chain checkpoint, over nodes', () => {
  const { address } = devnetAccount(0)
  const real = Object.assign(new Workbench(), { now: Math.floor(Date.now() / 1000) })
  afterAll(() => real.close())

  /** A node that serves, with the DID of an account, and what its commands print. */
  async function nodeOf(options: CreateNodeOptions) {
    const node = await createNode({ api: { portBase: 0, hosts: ['127.0.0.1'] }, ...options })
    onTestFinished(() => node.close())
    const rest = node.api?.rest ?? ''
    const { txid } = await node.wallet.createDid({ account: devnetAccount(0) })
    const verify = async (...args: string[]) => {
      const { out } = await real.run('did', 'prove', devnetAccount(0).did, '--rest', rest)
      return real.run('did', 'verify', real.write('bundle.json', out), ...args)
    }
    const checkpoint = (...args: string[]) => real.run('chain', 'checkpoint', '--rest', rest, ...args)
    return { node, txid, verify, checkpoint, rest }
  }

  it('of a devnet', async () => {
    const { node, txid, verify, checkpoint } = await nodeOf({ network: 'devnet' })
    await node.chain.waitFor(txid)
    const trust = ['--trust', 'devnet']
    expect(await verify(...trust)).toMatchObject({ code: 0, err: '' })
    const { code, out } = await checkpoint()
    expect([code, JSON.parse(out)]).toMatchObject([0, { height: 1, keysHash: expect.any(String) }])
    expect((await verify(...trust, '--checkpoint', real.write('cp.json', out))).code).toBe(0)
    for (const [height, said] of [
      ['0', 'the genesis block is no checkpoint'],
      ['9', '(-32012)'],
    ] as const) {
      expect(await checkpoint('--height', height)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining(said),
      })
    }
  })

  /** A chain like a shipped one, in a hurry: its spec, the file of that, and the options that trust it. */
  async function chainLike(name: ShippedSpec, changes: object) {
    // A tip that moved with every look at it could not be proved.
    const timing = { minInterval: 200, emptyInterval: 0, maxDrift: 15_000, propose: 1000, delta: 500 }
    const own = { ...(JSON.parse(readFileSync(shippedSpecFile(name), 'utf8')) as object), timing, ...changes }
    const spec = real.write(`own-${name}.json`, JSON.stringify(own))
    const { out } = await real.run('genesis', 'trust', spec)
    return { own, spec, trust: ['--trust', real.write(`own-${name}.trust.json`, out)] }
  }

  it('of a chain with validators, whose genesis is too old to begin with', async () => {
    const { publicKey, privateKey } = devnetValidatorKey(0)
    const { own, trust } = await chainLike('localnet', { name: 'confirmed', validators: [toHex(publicKey)] })
    const { node, txid, verify, checkpoint } = await nodeOf({
      spec: own,
      validatorKey: privateKey,
      dataDir: real.path('confirmed'),
    })
    await node.chain.waitFor(txid)
    expectFailure(await verify(...trust), 'trust-expired')
    expect((await verify(...trust, '--allow-old-root')).out).toContain('which is older than 30 days')
    const file = real.write('cp.json', (await checkpoint()).out)
    expect(await verify(...trust, '--checkpoint', file, '--max-age', '3600')).toMatchObject({ code: 0, err: '' })
  })

  it('of a chain of miners', async () => {
    const { own, spec, trust } = await chainLike('pow', { name: 'mined' })
    const { node, txid, verify, checkpoint } = await nodeOf({ spec: own, mineTo: address })
    const { height } = await node.chain.waitFor(txid)
    await expect.poll(() => node.chain.height).toBeGreaterThanOrEqual(height + 6)
    expect(await verify(...trust)).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining(`${devnetAccount(0).did} is valid.\n`),
    })
    const { out } = await checkpoint('--height', '1')
    expect(JSON.parse(out)).toEqual({
      format: 'didledger/checkpoint/1',
      chain: genesisBlock(loadSpec(spec)).hash,
      height: 1,
      hash: (await node.chain.block(1))?.hash,
    })
    expect(await verify(...trust, '--checkpoint', real.write('cp.json', out))).toMatchObject({ code: 0, err: '' })
  })

  it('say what is wrong with the place of a checkpoint', async () => {
    const both = await real.run('chain', 'checkpoint', '--rest', 'http://127.0.0.1:2', '--data-dir', '.')
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining('choose one') })
    const none = await real.run('chain', 'checkpoint', '--rest', 'http://127.0.0.1:2')
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('no node listens') })
  })
})

function expectFailure({ code, out, err }: Ran, failure: string): void {
  expect({ code, out, failure: /\(([\w-]+)\)\n$/.exec(err)?.[1], err }).toMatchObject({ code: 1, out: '', failure })
}

function deepAnswer({ book }: LightWorld, { did, id, ...asked }: Json, height: number): unknown {
  return did === undefined ? book.credential(id, { ...asked, height }) : book.answer(did, { ...asked, height })
}

/** Another character in the middle of a text. */
function swap(object: Json, name: string): void {
  const text = object[name] as string
  const at = text.length >> 1
  object[name] = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
}

/** Leaves the first entry of a history out, and says that there is one less. */
function dropFirst(history: Json): void {
  history.entries = Buffer.from(history.entries as string, 'base64url')
    .subarray(73)
    .toString('base64url')
  history.count--
}
