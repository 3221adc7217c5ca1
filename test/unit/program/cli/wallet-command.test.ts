import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatPrivateKey, formatPublicKey, keyForms } from '../../../../src/base/crypto/key-forms.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { devnetAccount, devnetMnemonic } from '../../../../src/clients/wallet/devnet-accounts.js'
import { FakeNode } from '../../../support/fakes/fake-node.js'
import { program } from '../../../support/process/spawn.js'
import { specText, Workbench } from '../../../support/process/workbench.js'

const bob = devnetAccount(1)
const assetId = 'a3d0eaa466df74983b5d7c543de6904f4c9418ead5ffd6d25814234a96db37b0'
const utxos = (...values: string[]) =>
  JSON.stringify({
    Desc: 'Success',
    Error: 0,
    Result: [
      {
        AssetId: assetId,
        AssetName: 'ELA',
        Utxo: values.map((Value, Index) => ({ Txid: '5a'.repeat(32), Index, Value })),
      },
    ],
  })

describe('didledger wallet', () => {
  let bench: Workbench
  let node: FakeNode
  let rest: string
  beforeEach(async () => {
    bench = new Workbench()
    node = new FakeNode()
    node.spec = parseSpec(specText())
    rest = await node.start()
  })
  afterEach(async () => {
    bench.close()
    await node.stop()
  })

  it('creates a keystore, lists its addresses without a password, and adds accounts with it', async () => {
    const wallet = bench.path('alice.json')
    const created = await bench.json('wallet', 'create', '--wallet', wallet)
    expect(String(created['mnemonic']).split(' ')).toHaveLength(12)
    expect(statSync(wallet).mode & 0o777).toBe(0o600)
    expect(readFileSync(wallet, 'utf8')).not.toContain(String(created['mnemonic']).split(' ')[0])

    bench.env = {}
    const listed = await bench.json<{ address: string; did: string }[]>('wallet', 'address', '--wallet', wallet)
    expect(listed).toMatchObject([{ account: 0, address: created['address'], did: created['did'] }])

    bench.env = { DIDLEDGER_PASSWORD: 'wrong' }
    const wrong = await bench.run('wallet', 'address', '--wallet', wallet, '--new')
    expect(wrong).toMatchObject({ code: 1, out: '', err: expect.stringContaining('error: wrong password') })
    const password = bench.write('password', 'correct horse\n')
    const more = await bench.json<unknown[]>(
      'wallet',
      'address',
      '--wallet',
      wallet,
      '--new',
      '--password-file',
      password,
    )
    expect(more).toHaveLength(2)

    const add = () =>
      bench.json<object[]>('wallet', 'address', '--wallet', wallet, '--new', '--password-file', password)
    const added = await Promise.all([add(), add(), add()])
    expect(added.map((all) => all.length)).toEqual([3, 4, 5])
    expect(await bench.json('wallet', 'address', '--wallet', wallet)).toEqual(added[2])

    bench.env = { DIDLEDGER_PASSWORD: 'x' }
    const again = await bench.run('wallet', 'create', '--wallet', wallet)
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('exists already and is not overwritten') })
  })

  it('asks for a new password twice, and needs a terminal for that', async () => {
    bench.env = {}
    bench.answers = ['one', 'two']
    const differ = await bench.run('wallet', 'create', '--wallet', bench.path('a.json'))
    expect(differ).toMatchObject({ code: 1, err: expect.stringContaining('passwords differ') })
    bench.answers = ['two', 'two']
    const short = await bench.run('wallet', 'create', '--wallet', bench.path('a.json'))
    expect(short).toMatchObject({ code: 1, err: expect.stringContaining('8 characters or more') })
    bench.answers = ['long enough', 'long enough']
    expect((await bench.run('wallet', 'create', '--wallet', bench.path('a.json'))).code).toBe(0)
    bench.answers = undefined
    const silent = await bench.run('wallet', 'create', '--wallet', bench.path('b.json'))
    expect(silent).toMatchObject({
      code: 2,
      err: expect.stringContaining('--password-file FILE or DIDLEDGER_PASSWORD'),
    })
  })

  it('refuses a new password of several lines, and names the line ends of one that is wrong', async () => {
    const wallet = bench.path('lines.json')
    const file = bench.write('lines', 'correct horse\n\n')
    const named = ['--wallet', wallet, '--password-file', file]
    const created = await bench.run('wallet', 'create', ...named)
    expect(created).toMatchObject({ code: 1, err: expect.stringContaining(`${file} contains a line end`) })
    bench.env = { DIDLEDGER_PASSWORD: 'correct horse\r\n' }
    const variable = await bench.run('wallet', 'create', '--wallet', wallet)
    expect(variable).toMatchObject({ code: 1, err: expect.stringContaining('DIDLEDGER_PASSWORD contains a line end') })
    bench.env = { DIDLEDGER_PASSWORD: 'correct horse' }
    await bench.json('wallet', 'create', '--wallet', wallet)
    const wrong = await bench.run('wallet', 'address', '--new', ...named)
    expect(wrong).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: wrong password, .* contains a line end/),
    })
  })

  it('calls an empty password file empty, and not a wrong password', async () => {
    const [wallet, file] = [bench.path('a.json'), bench.write('empty.txt', '\n')]
    await bench.json('wallet', 'create', '--wallet', wallet)
    const { code, err } = await bench.run('wallet', 'export', '--wallet', wallet, '--password-file', file)
    expect([code, err]).toEqual([1, `error: the password file ${file} is empty\n`])
  })

  it('imports a mnemonic and a private key', async () => {
    const words = bench.write('words.txt', `  ${devnetMnemonic.toUpperCase().replaceAll(' ', '\n')}\n`)
    const fromWords = await bench.json('wallet', 'import', words, '--wallet', bench.path('m.json'))
    expect(fromWords).toMatchObject({ address: devnetAccount(0).address, did: devnetAccount(0).did })
    const list = devnetMnemonic.split(' ')
    for (const [i, text] of [
      list.map((word, index) => `${index + 1}. ${word}`).join(' '),
      list.map((word, index) => `${index + 1}) ${word}`).join('\r\n'),
      list.join(', '),
    ].entries()) {
      const wallet = bench.path(`list-${i}.json`)
      const { address } = await bench.json('wallet', 'import', bench.write('list.txt', text), '--wallet', wallet)
      expect(address).toBe(devnetAccount(0).address)
    }
    const key = bench.write('key.txt', Buffer.from(bob.privateKey).toString('hex'))
    const fromKey = await bench.json('wallet', 'import', key, '--wallet', bench.path('k.json'))
    expect(fromKey).toMatchObject({ address: bob.address, keys: 1 })
    for (const form of keyForms) {
      const text = bench.write(`key.${form}`, formatPrivateKey(bob.privateKey, form))
      const imported = await bench.json('wallet', 'import', text, '--wallet', bench.path(`${form}.json`))
      expect(imported).toMatchObject({ address: bob.address, keys: 1 })
    }
    // As base64 of the shell breaks lines.
    const lines = bench.write('lines.txt', formatPrivateKey(bob.privateKey, 'der').replace(/.{76}/g, '$&\n'))
    const fromLines = await bench.json('wallet', 'import', lines, '--wallet', bench.path('lines.json'))
    expect(fromLines).toMatchObject({ address: bob.address, keys: 1 })
    const none = await bench.run('wallet', 'address', '--new', '--wallet', bench.path('k.json'))
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('imported keys only') })
    const junk = bench.write('junk.txt', devnetMnemonic.replace('junk', 'test'))
    const refused = await bench.run('wallet', 'import', junk, '--wallet', bench.path('j.json'))
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('neither a mnemonic') })
    expect(refused.err).toContain('as a mnemonic, its checksum is wrong')
    for (const [text, why] of [
      [devnetMnemonic.replace('junk', 'junks'), 'as a mnemonic, word 12 is not in the English list of BIP39'],
      [`${devnetMnemonic}\n${bob.address}`, 'as a mnemonic, it has 13 words'],
      [`1. ${devnetMnemonic.replaceAll(' ', ', 2. ').replace(/, 2\. junk/, '')}`, 'as a mnemonic, it has 11 words'],
      [devnetMnemonic.replace(' junk', ''), 'as a mnemonic, it has 11 words, where 12, 15, 18, 21 or 24 are needed'],
      [Buffer.from(bob.privateKey).toString('hex').slice(1), 'it has 63 hex digits; a private key has 64'],
      ['0\ufffd w\ufffd 5', 'the private key to import cannot be read: it is no text; "openssl pkey -inform DER'],
      [`key: ${'Z'.repeat(64)}`, 'the private key to import cannot be read: it has none of the known forms'],
      [formatPublicKey(bob.publicKey, 'pem'), 'the private key to import is a public key'],
      ['{"a":1}', 'nor a keystore.dat'],
      ['{"kty":"EC"}', 'as JWK it has crv missing'],
    ] as const) {
      const { code, err } = await bench.run(
        'wallet',
        'import',
        bench.write('t.txt', text),
        '--wallet',
        bench.path('t.json'),
      )
      expect([code, err]).toEqual([1, expect.stringContaining(why)])
      // A secret is not shown.
      expect(err).not.toMatch(/junk|test test|[0-9a-f]{8}/)
    }
  })

  it('writes to standard output what is named -, and the words beside it', async () => {
    const coins = bench.write('coins.json', utxos('10.00000000'))
    const pay = ['--devnet-account', '0', '--to', bob.address, '--amount', '2.5']
    const built = await bench.run('wallet', 'build', '--coins', coins, '--genesis', bench.spec, '-o', '-', ...pay)
    expect(JSON.parse(built.out)).toMatchObject({ signed: false, spent: [{ value: '10.00000000' }] })
    expect(built.err).toContain('Wrote standard output, not signed yet.')
    expect(built.err).toContain('Next: npx didledger wallet sign -')
    const signed = await bench.run(
      'wallet',
      'sign',
      bench.write('piped.json', built.out),
      '-o',
      '-',
      ...pay.slice(0, 2),
    )
    expect(JSON.parse(signed.out)).toMatchObject({ signed: true })
    expect(existsSync('-')).toBe(false)
  })

  it('builds, shows and signs offline', async () => {
    const coins = bench.write('coins.json', utxos('1.00000000', '10.00000000'))
    const file = bench.path('payment.json')
    const pay = ['--devnet-account', '0', '--to', bob.address, '--amount', '2.5']
    const built = await bench.json('wallet', 'build', '--coins', coins, '--genesis', bench.spec, '-o', file, ...pay)
    const unsigned = Transaction.fromHex(String(built['hex']))
    expect(built).toMatchObject({ file, signed: false, txid: unsigned.txid, spent: [{ value: '10.00000000' }] })
    expect(unsigned.toJSON()).toMatchObject({ version: 9, vout: [{ value: '2.50000000', address: bob.address }, {}] })
    const least = 100n + BigInt(unsigned.unsigned.length)
    expect(built['fee']).toBe(`0.00000${least}`)

    const shown = await bench.run('wallet', 'show', file)
    expect(shown.out).toContain(`pays    2.50000000  ${bob.address}`.replace('pays    ', 'pays'.padEnd(8)))
    expect(shown.out).toContain(`Still to be signed by ${devnetAccount(0).address}.`)
    const early = await bench.run('wallet', 'send', file, '--rest', rest)
    expect(early).toMatchObject({ code: 1, err: expect.stringContaining('is not signed yet') })

    const stranger = await bench.run('wallet', 'sign', file, '--devnet-account', '1')
    expect(stranger).toMatchObject({ code: 1, err: expect.stringContaining('holds no key of the transaction') })
    const signed = await bench.json('wallet', 'sign', file, '--devnet-account', '0')
    expect(signed).toMatchObject({
      file: bench.path('payment.signed.json'),
      signed: true,
      missing: [],
      txid: unsigned.txid,
    })
    expect((await bench.run('wallet', 'show', bench.path('payment.signed.json'))).out).toContain('Signed.')

    // The family's tools write nothing but the hex.
    const plain = bench.write('plain.txt', `${String(built['hex'])}\n`)
    expect((await bench.run('wallet', 'sign', plain, '--devnet-account', '0', '-o', bench.path('s.json'))).code).toBe(0)
    expect((await bench.run('wallet', 'show', bench.path('s.json'))).out).toContain('unknown: the file does not tell')

    node.fund(devnetAccount(0).address, 1_000_000_000n, { txid: Buffer.alloc(32, 0x5a), index: 1 })
    node.automine = false
    const sent = await bench.run('wallet', 'send', bench.path('payment.signed.json'), '--rest', rest, '--no-wait')
    expect(sent).toMatchObject({ code: 0, out: expect.stringContaining(unsigned.txid) })
    expect(node.pool.map(({ txid }) => txid)).toEqual([unsigned.txid])

    // Here there is no wallet to ask: the next command names an address, and works as it stands.
    const payer = devnetAccount(0).address
    expect(sent.out).toContain(`Next: npx didledger wallet balance ${payer} --rest ${rest}   (once it is mined)\n`)
    node.mine()
    expect((await bench.run('wallet', 'balance', payer, '--rest', rest)).out).toMatch(`${payer}  7.4`)
  })

  it('shows from which height a transaction with a lock time can be sent', async () => {
    node.fund(devnetAccount(0).address, 300_000_000n)
    const pay = [...['--to', bob.address, '--amount', '1', '--rest', rest], '--genesis', bench.spec]
    const from = ['--devnet-account', '0']
    const built = await bench.run('wallet', 'build', ...from, ...pay, '--lock-time', '200', '-o', bench.path('t.json'))
    const signed = await bench.run('wallet', 'sign', bench.path('t.json'), ...from)
    const shown = await bench.run('wallet', 'show', bench.path('t.signed.json'))
    for (const { out } of [built, signed, shown]) {
      expect(out).toMatch(/^ *lock time +not before block 201: it can be sent from height 200 on$/m)
    }
    const sent = await bench.run('wallet', 'send', bench.path('t.signed.json'), '--rest', rest)
    expect([sent.code, sent.err]).toEqual([1, expect.stringContaining('it can be sent at height 200')])
    const free = await bench.run('wallet', 'build', ...from, ...pay, '-o', bench.path('free.json'))
    expect(free.out).not.toContain('lock time')
    const early = await bench.run('wallet', 'send', ...from, ...pay, '--lock-time', '200')
    expect(early).toMatchObject({ code: 2, out: '' })
    expect(early.err).toMatch(
      /--lock-time 200: it can be sent from height 200 on, and the chain is at 0; "wallet build"/,
    )
  })

  it('ignores what comes along with copies of addresses, amounts and ids', async () => {
    node.fund(devnetAccount(0).address, 300_000_000n)
    const pay = ['--to', ` ${bob.address}\n`, '--amount', ' 1 ', '--devnet-account', '0', '--rest', rest]
    const built = await bench.run('wallet', 'build', ...pay, '--genesis', bench.spec, '-o', bench.path('t.json'))
    expect(built.out).toMatch(new RegExp(`^ *pays +1\\.00000000 {2}${bob.address}$`, 'm'))
    const balance = await bench.run('wallet', 'balance', ` ${devnetAccount(0).address} `, '--rest', rest)
    expect(balance.out).toMatch(`${devnetAccount(0).address}  3.0`)
    const txid = 'ab'.repeat(32)
    const bump = ['wallet', 'bump', ` 0x${txid.toUpperCase()}`, '--devnet-account', '0', '--rest', rest]
    expect((await bench.run(...bump, '--genesis', bench.spec)).err).toContain(`transaction/${txid}`)
  })

  it('names the first recipient where a signed file does not tell who pays', async () => {
    node.fund(devnetAccount(0).address, 300_000_000n)
    const file = bench.path('signed.json')
    const pay = ['--devnet-account', '0', '--to', bob.address, '--amount', '1', '--rest', rest, '--genesis', bench.spec]
    const { hex } = await bench.json('wallet', 'build', '-o', bench.path('t.json'), ...pay)
    const plain = bench.write('plain.txt', String(hex))
    await bench.json('wallet', 'sign', plain, '--devnet-account', '0', '-o', file)
    const sent = await bench.run('wallet', 'send', file, '--rest', rest)
    expect(sent).toMatchObject({ code: 0, err: '' })
    expect(sent.out).toContain(`Next: npx didledger wallet balance ${bob.address} --rest ${rest}\n`)
  })

  it('says after two seconds that a transaction waits for a block; not with --json, nor for what is quicker', async () => {
    node.automine = false
    for (const account of [0, 1]) node.fund(devnetAccount(account).address, 300_000_000n)
    const call = (account: number) => [
      ...['wallet', 'send', '--to', devnetAccount(2).address, '--amount', '1', '--rest', rest, '--genesis', bench.spec],
      ...['--devnet-account', String(account)],
    ]
    const runs = [bench.run(...call(0)), bench.run(...call(1), '--json')]
    await expect.poll(() => node.pool).toHaveLength(2)
    const ofFirst = node.pool.find(({ inputs }) => inputs[0]?.index === 0)?.txid
    // Both have waited for as long, or nearly so, when one of them says it.
    await expect.poll(() => bench.said).toContain('waiting for a block')
    setTimeout(() => node.mine(), 300)
    const [plain, json] = await Promise.all(runs)
    expect(plain).toMatchObject({ code: 0, err: `accepted ${ofFirst}, waiting for a block\n` })
    expect(json).toMatchObject({ code: 0, err: '' })
    const quick = bench.run(...call(0))
    await expect.poll(() => node.pool).toHaveLength(1)
    node.mine()
    expect(await quick).toMatchObject({ code: 0, err: '' })
  })

  it('says that the chain is stalled while a transaction waits', async () => {
    node.automine = false
    node.fund(devnetAccount(0).address, 300_000_000n)
    const stalled = { reason: 'no-quorum', since: 1, detail: 'validator 3 is missing' }
    node.overrides.set('POST /rpc getarbitersinfo', () => ({ body: { jsonrpc: '2.0', id: 1, result: { stalled } } }))
    const to = ['--to', devnetAccount(2).address, '--amount', '1', '--rest', rest, '--genesis', bench.spec]
    const sending = bench.run('wallet', 'send', ...to, '--devnet-account', '0')
    await expect.poll(() => bench.said).toContain('the chain is stalled: validator 3 is missing\n')
    node.mine()
    expect(await sending).toMatchObject({ code: 0 })
  })

  const once = (account: number) => [
    ...['wallet', 'send', '--to', devnetAccount(2).address, '--amount', '1', '--genesis', bench.spec],
    ...['--devnet-account', String(account)],
  ]

  it.each(['', '--json'])('does not invite to pay twice when the node dies during the wait %s', async (flag) => {
    node.automine = false
    node.fund(devnetAccount(0).address, 300_000_000n)
    const sending = bench.run(...once(0), '--rest', rest, ...(flag === '' ? [] : [flag]))
    await expect.poll(() => node.pool).toHaveLength(1)
    const { txid } = node.pool[0] as Transaction
    await node.stop()
    const { code, out, err } = await sending
    expect([code, out]).toEqual([1, ''])
    const message = flag === '' ? err : (JSON.parse(err) as { error: { message: string } }).error.message
    expect(message).toContain(`transaction ${txid} was accepted`)
    expect(message).toContain('It may still be mined, so do not replace it by another one')
    expect(message).toContain(`curl -s ${rest}/api/v1/transaction/${txid}`)
    expect(message).not.toMatch(/npx didledger devnet|again/)
    await node.start()
  })

  it('does not invite to pay twice when the node takes the transaction and does not answer', async () => {
    node.fund(devnetAccount(0).address, 300_000_000n)
    let data = ''
    node.overrides.set('POST /api/v1/transaction', (body) => {
      data = (body as { data: string }).data
      return { status: 502, body: '<html>Bad Gateway</html>' }
    })
    const { code, err } = await bench.run(...once(0), '--rest', rest)
    const { txid } = Transaction.fromHex(data)
    expect(code).toBe(1)
    expect(err).toContain(`transaction ${txid} was sent, and it is not known whether the node took it`)
    expect(err).toContain('It may still be mined, so do not replace it by another one')
    expect(err).toContain(`curl -s ${rest}/api/v1/transaction/${txid}`)
  })

  it('builds with coins of a node, a fee, a lock and several recipients, from a keystore without its password', async () => {
    const wallet = bench.path('alice.json')
    const { address } = (await bench.json('wallet', 'create', '--wallet', wallet)) as { address: string }
    bench.env = {}
    node.fund(address, 500_000_000n)
    const file = bench.path('t.json')
    const two = ['--to', bob.address, '--amount', '1', '--to', devnetAccount(2).did.slice(11), '--amount', '2']
    const how = ['--fee', '0.001', '--output-lock', '7', '--lock-time', '1', '--from', address, '--genesis', bench.spec]
    const built = await bench.json('wallet', 'build', '--wallet', wallet, '--rest', rest, '-o', file, ...two, ...how)
    expect(built['fee']).toBe('0.00100000')
    expect(Transaction.fromHex(String(built['hex'])).toJSON()).toMatchObject({
      locktime: 1,
      vin: [{ sequence: 0xfffffffe }],
      vout: [
        { value: '1.00000000', outputlock: 7 },
        { value: '2.00000000', outputlock: 7 },
        { value: '1.99900000', outputlock: 0 },
      ],
    })
    const elsewhere = await bench.run('wallet', 'build', '--wallet', wallet, '--from', bob.address, ...two)
    expect(elsewhere.code).toBe(1)
  })

  it('sends in one step, waits for the block, and shows balances', async () => {
    node.fund(devnetAccount(0).address, 300_000_000n)
    const call = [
      '--to',
      bob.address,
      '--amount',
      '1.25',
      '--devnet-account',
      '0',
      '--rest',
      rest,
      '--genesis',
      bench.spec,
    ]
    const sent = await bench.run('wallet', 'send', ...call)
    expect(sent).toMatchObject({ code: 0, err: '' })
    expect(sent.out).toContain('Sent and mined.')
    expect(sent.out).toContain(`Next: npx didledger wallet balance --devnet-account 0 --rest ${rest}`)
    const held = await bench.json('wallet', 'balance', '--devnet-account', '1', '--rest', rest)
    const waiting = { received: '0.00000000', spent: '0.00000000' }
    expect(held).toEqual({ accounts: [{ address: bob.address, waiting, balance: '1.25000000' }], total: '1.25000000' })
    expect((await bench.run('wallet', 'balance', bob.address, '--rest', rest)).out).toBe(`${bob.address}  1.25000000\n`)
    expect(await bench.json('wallet', 'send', ...call)).toMatchObject({ height: 2 })
  })

  it('tells what of a balance can be spent, is locked and is immature', async () => {
    for (let height = 1; height < 3; height++) node.mine()
    node.fund(bob.address, 100_000_000n)
    node.fund(bob.address, 200_000_000n, { outputLock: 50, height: 1 })
    node.fund(bob.address, 400_000_000n, { coinbase: true, height: 1 })
    node.fund(devnetAccount(0).address, 800_000_000n, { coinbase: true })
    const parts = { spendable: '1.00000000', locked: '2.00000000', immature: '4.00000000' }
    expect(await bench.json('wallet', 'balance', bob.address, '--rest', rest)).toMatchObject({
      accounts: [{ balance: '7.00000000', ...parts }],
      total: '7.00000000',
    })
    const { out } = await bench.run('wallet', 'balance', bob.address, '--rest', rest)
    expect(out).toBe(`${bob.address}  7.00000000  (1.00000000 spendable, 2.00000000 locked, 4.00000000 immature)\n`)
    // Coins of the genesis block need no age.
    const genesis = await bench.run('wallet', 'balance', '--devnet-account', '0', '--rest', rest)
    expect(genesis.out).toBe(`${devnetAccount(0).address}  8.00000000\n`)
  })

  it('pays what a full pool asks for each byte, up to a price that a node cannot name alone', async () => {
    node.fund(devnetAccount(0).address, 3_000_000_000n)
    const send = ['wallet', 'send', '--to', bob.address, '--amount', '1', '--devnet-account', '0', '--rest', rest]
    const asking = (perkilobyte: number) =>
      node.overrides.set('POST /rpc getfeerate', () => ({
        body: { jsonrpc: '2.0', id: 1, result: { floor: String(perkilobyte / 1000), perkilobyte } },
      }))
    const sizeOf = (txid: unknown) =>
      node.blocks.flatMap(({ transactions }) => transactions).find((one) => one.txid === txid)?.bytes.length ?? 0
    asking(3105)
    const sent = await bench.json('wallet', ...send.slice(1))
    const needed = Math.ceil((3105 * sizeOf(sent['txid'])) / 1000)
    expect(sent['fee']).toBe(`0.${String(needed).padStart(8, '0')}`)
    expect(await bench.run(...send, '--fee', '0.00002')).toMatchObject({ code: 0 })
    expect(await bench.run(...send, '--fee', '0.000005')).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^error: --fee 0\.00000500 is too low: 0\.000009\d\d is asked for this transaction/,
      ) as string,
    })
    asking(10_000_000)
    expect((await bench.json('wallet', ...send.slice(1)))['fee']).toMatch(/^0\.0[23]/)
    asking(10_000_001)
    expect(await bench.run(...send)).toMatchObject({
      code: 1,
      err: expect.stringContaining('asks 0.10000001 for 1000 bytes at present, and more than 0.10000000') as string,
    })
  })

  it('explains what the node refused, and that there is no node', async () => {
    node.fund(devnetAccount(0).address, 300_000_000n)
    const body = { Desc: 'INTERNAL ERROR, ErrDoubleSpend', Error: 45010, Result: 'input 0 is spent already' }
    node.overrides.set('POST /api/v1/transaction', () => ({ status: 400, body }))
    const call = [
      'wallet',
      'send',
      '--to',
      bob.address,
      '--amount',
      '1',
      '--devnet-account',
      '0',
      '--genesis',
      bench.spec,
    ]
    expect(await bench.run(...call, '--rest', rest)).toMatchObject({
      code: 1,
      out: '',
      err: 'error: the node refused the transaction: input 0 is spent already (45010)\n',
    })
    const coded = await bench.run(...call, '--rest', rest, '--json')
    expect(JSON.parse(coded.err)).toEqual({
      error: { code: 45010, description: body.Desc, reason: body.Result, message: expect.stringContaining('refused') },
    })
    const away = await bench.run(...call, '--rest', 'http://127.0.0.1:1', '--json')
    expect(away.code).toBe(1)
    expect(JSON.parse(away.err)).toMatchObject({ error: { message: expect.stringContaining('npx didledger devnet') } })
  })

  const target = ['--to', bob.address]
  it.each<[string, string[], RegExp]>([
    ['nine decimals', [...target, '--amount', '1.123456789'], /--amount 1\.123456789: .*at most 8 decimals/],
    ['a negative amount', [...target, '--amount', '-5'], /--amount -5: An amount cannot be negative/],
    ['a negative fee', [...target, '--amount', '1', '--fee', '-1'], /--fee -1: .*cannot be negative/],
    ['more digits than coins', [...target, '--amount', '1234567890123'], /More coins than there can be/],
    ['more units than an amount holds', [...target, '--amount', '99999999999'], /More coins than there can be/],
    [
      'the same as pages print it',
      [...target, '--amount', '99\u202f999\u202f999\u202f999'],
      /More coins than there can be/,
    ],
    [
      'more than the supply',
      [...target, '--amount', '33000000.00000001'],
      /--amount 33000000\.00000001 is more than the supply/,
    ],
    [
      'a fee beyond the supply',
      [...target, '--amount', '1', '--fee', '34000000'],
      /--fee 34000000\.00000000 is more than/,
    ],
    ['words', [...target, '--amount', 'much'], /Not an amount of coins/],
    ['zero', [...target, '--amount', '0'], /must be above zero/],
    ['no amount', target, /1 times --to, but 0 times --amount/],
    ['no recipient', [], /--to ADDRESS/],
    ['a bad address', ['--to', `${bob.address.slice(0, -1)}x`, '--amount', '1'], /--to .*: Not an address/],
    [
      'an address of another chain',
      ['--to', 'DZnbidYSfk5dgz5bqg8QT6AyGefa8BvePQ', '--amount', '1'],
      /no addresses of that kind/,
    ],
    ['a bad lock', [...target, '--amount', '1', '--output-lock', 'x'], /Not a block height/],
    ['two wallets', ['--wallet', 'x', '--devnet-account', '1'], /cannot be used with/],
    ['a bad account', ['--devnet-account', '-1'], /Not a whole number/],
    ['an unknown option', ['--colour'], /unknown option '--colour'/],
  ])('calls %s a wrong call: exit code 2', async (_, args, message) => {
    const coins = bench.write('coins.json', utxos('1.00000000'))
    const account = args.includes('--devnet-account') ? [] : ['--devnet-account', '0']
    const ran = await bench.run('wallet', 'build', '--coins', coins, '--genesis', bench.spec, ...account, ...args)
    expect(ran.code, ran.err).toBe(2)
    expect(ran.err).toMatch(message)
    expect(ran.err).not.toMatch(/\n\s+at /)
    expect(ran.out).toBe('')
  })

  it.each<[string, string[], RegExp]>([
    [
      'no keystore',
      ['wallet', 'balance', '--wallet', 'nowhere.json'],
      /no keystore nowhere\.json; make one with: npx didledger wallet create/,
    ],
    ['a file that is none', ['wallet', 'show', 'package.json'], /not a transaction file/],
    ['a file that is not there', ['wallet', 'sign', 'nowhere.json'], /cannot read the transaction file nowhere\.json/],
    [
      'a spec that is not there',
      ['wallet', 'send', ...target, '--amount', '1', '--devnet-account', '0', '--genesis', 'nowhere.json'],
      /chain spec/,
    ],
  ])('says about %s what is wrong', async (_, args, message) => {
    const ran = await bench.run(...args)
    expect(ran.code).toBe(1)
    expect(ran.err).toMatch(message)
  })

  it('shows a stack only when DEBUG asks for it', async () => {
    const args = ['wallet', 'show', 'package.json']
    expect((await bench.run(...args)).err).not.toMatch(/\n\s+at /)
    bench.env = { DEBUG: 'didledger' }
    expect((await bench.run(...args)).err).toMatch(/\n\s+at /)
  })

  it('runs as a program of its own', () => {
    const run = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
    expect(run('--version')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(
        /^didledger \d+\.\d+\.\d+ \(commit ([0-9a-f]{40}|unknown), Node v\d+\.\d+\.\d+\)\n$/,
      ),
    })
    expect(run('wallet', 'address', '--devnet-account', '0')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(devnetAccount(0).address),
      stderr: '',
    })
    expect(run('wallet', 'show', 'nowhere')).toMatchObject({ status: 1, stdout: '' })
    expect(run('wallet', 'dance')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("unknown command 'dance'"),
    })
  })
})
