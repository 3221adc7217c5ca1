import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatPublicKey } from '../../../../src/base/crypto/key-forms.js'
import { hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { multisigAddress } from '../../../../src/clients/wallet/multisig.js'
import { FakeNode } from '../../../support/fakes/fake-node.js'
import { specText, Workbench } from '../../../support/process/workbench.js'

const owners = [0, 1, 2].map(devnetAccount)
const keys = owners.map(({ publicKey }) => toHex(publicKey))
const [first, second, third] = keys as [string, string, string]
const shared = multisigAddress(
  owners.map(({ publicKey }) => publicKey),
  2,
)
const keyOptions = keys.flatMap((key) => ['--key', key])
const recipient = devnetAccount(9).address

describe('didledger wallet multisig', () => {
  let bench: Workbench
  let node: FakeNode
  let rest: string
  beforeEach(async () => {
    bench = new Workbench()
    node = new FakeNode()
    node.spec = parseSpec(specText())
    rest = await node.start()
    node.fund(shared, 1_000_000_000n)
  })
  afterEach(async () => {
    bench.close()
    await node.stop()
  })

  /** An unsigned transfer of 2.5 coins. */
  async function build(name = 'shared.json', ...more: string[]): Promise<string> {
    const file = bench.path(name)
    const how = ['--rest', rest, '--genesis', bench.spec, '--to', recipient, '--amount', '2.5', '-o', file]
    await bench.json('wallet', 'multisig', 'build', '--required', '2', ...keyOptions, ...how, ...more)
    return file
  }
  const sign = (file: string, account: number, ...more: string[]) =>
    bench.json('wallet', 'sign', file, '--devnet-account', String(account), ...more)

  it('shows an address, the same in whatever order the keys are given, with or without the own one', async () => {
    const told = await bench.json('wallet', 'multisig', 'address', '--required', '2', ...keyOptions)
    expect(told).toMatchObject({ address: shared, required: 2, repeated: [] })
    expect([...(told['keys'] as string[])].sort()).toEqual([...keys].sort())
    for (const others of [
      ['--key', third, '--key', first, '--devnet-account', '1'],
      [...keyOptions, '--devnet-account', '0'],
    ]) {
      expect(await bench.json('wallet', 'multisig', 'address', '--required', '2', ...others)).toEqual(told)
    }
    const wallet = bench.path('own.json')
    await bench.json('wallet', 'create', '--wallet', wallet)
    const [account] = await bench.json<{ publicKey: string }[]>('wallet', 'address', '--wallet', wallet)
    const publicKey = String(account?.publicKey)
    const own = ['--wallet', wallet]
    const others = ['pem', 'jwk', 'base58'] as const
    for (const form of others) {
      const key = formatPublicKey(hex(first), form)
      const address = ['wallet', 'multisig', 'address', '--required', '1', '--key']
      expect(await bench.json(...address, key)).toEqual(await bench.json(...address, first))
    }
    expect(await bench.json('wallet', 'multisig', 'address', '--required', '1', '--key', first, ...own)).toEqual(
      await bench.json('wallet', 'multisig', 'address', '--required', '1', '--key', publicKey, '--key', first),
    )
  })

  it('leaves no owner out in silence: a second keystore or account is refused', async () => {
    for (const [option, ...values] of [
      ['--wallet', 'a.json', 'b.json'],
      ['--devnet-account', '0', '1'],
      ['--account', '0', '1'],
    ] as const) {
      const own = values.flatMap((value) => [option, value])
      const { code, out, err } = await bench.run('wallet', 'multisig', 'address', '--required', '1', ...own)
      expect([code, out]).toEqual([2, ''])
      expect(err).toContain(`${option} is given twice; it adds one key: name those of the others with --key KEY`)
    }
  })

  it('warns of a key that counts twice', async () => {
    const { out } = await bench.run('wallet', 'multisig', 'address', '--required', '2', ...keyOptions, '--key', first)
    expect(out).toContain(`Careful: ${first} belongs to the owner of the key above it, who counts twice.`)
    expect(out).toContain('2 of 4')
  })

  it('builds online and offline, unsigned', async () => {
    const online = JSON.parse(readFileSync(await build(), 'utf8')) as Record<string, unknown>
    const txid = '5a'.repeat(32)
    const coins = bench.write('coins.json', JSON.stringify([{ Txid: txid, Index: 3, Value: '10.00000000' }]))
    const offline = JSON.parse(readFileSync(await build('offline.json', '--coins', coins), 'utf8')) as typeof online
    expect(offline['spent']).toEqual([{ txid, index: 3, value: '10.00000000', address: shared }])
    for (const file of [online, offline]) {
      const transaction = Transaction.fromHex(String(file['hex']))
      expect(file).toMatchObject({ signed: false, txid: transaction.txid })
      expect(transaction.toJSON()).toMatchObject({
        vout: [{ value: '2.50000000', address: recipient }, { address: shared }],
        programs: [{ parameter: '' }],
      })
    }
  })

  it('signs one after the other, tells how far it is, and sends', async () => {
    const file = await build()
    const one = await sign(file, 1)
    expect(one).toMatchObject({
      file: bench.path('shared.signed-1.json'),
      signed: false,
      missing: [shared],
      signatures: [{ address: shared, required: 2, present: 1, signed: [second] }],
    })
    const shown = await bench.run('wallet', 'show', bench.path('shared.signed-1.json'))
    expect(shown.out).toMatch(new RegExp(`signatures +1 of 2  ${shared}`))
    expect(shown.out).toMatch(new RegExp(`signed +${second}\n`))
    expect(shown.out).toMatch(new RegExp(`open +${third}\n`))
    expect(shown.out).toContain(`Still to be signed by ${shared} (1 of 2 signatures, 1 missing).`)

    const early = await bench.run('wallet', 'send', bench.path('shared.signed-1.json'), '--rest', rest)
    expect(early).toMatchObject({ code: 1, out: '' })
    expect(early.err).toContain(`is not signed yet by ${shared} (1 of 2 signatures, 1 missing)`)
    expect(node.pool).toEqual([])

    const again = await bench.run('wallet', 'sign', bench.path('shared.signed-1.json'), '--devnet-account', '1')
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('this wallet has signed already') })
    const stranger = await bench.run('wallet', 'sign', bench.path('shared.signed-1.json'), '--devnet-account', '5')
    expect(stranger).toMatchObject({ code: 1, err: expect.stringContaining('holds no key of the transaction') })

    const two = await bench.run('wallet', 'sign', bench.path('shared.signed-1.json'), '--devnet-account', '0')
    expect(two.out).toContain(`Next: npx didledger wallet send ${bench.path('shared.signed.json')}`)
    const sent = await bench.json('wallet', 'send', bench.path('shared.signed.json'), '--rest', rest)
    expect(sent).toMatchObject({ height: 1 })
    expect(await bench.json('wallet', 'balance', recipient, '--rest', rest)).toMatchObject({ total: '2.50000000' })
  })

  it('combines copies that were signed in parallel, with the bytes of signing in turn', async () => {
    const file = await build()
    await sign(file, 0, '-o', bench.path('a.json'))
    await sign(file, 2, '-o', bench.path('c.json'))
    await sign(bench.path('a.json'), 2, '-o', bench.path('turn.json'))
    const combined = await bench.json('wallet', 'multisig', 'combine', bench.path('c.json'), bench.path('a.json'))
    expect(combined).toMatchObject({ file: bench.path('c.signed.json'), signed: true, signatures: [{ present: 2 }] })
    expect(readFileSync(bench.path('c.signed.json'), 'utf8')).toBe(readFileSync(bench.path('turn.json'), 'utf8'))
    // A copy that came as the family's tools write it, and one that adds nothing.
    const plain = bench.write('plain.txt', String(JSON.parse(readFileSync(bench.path('a.json'), 'utf8')).hex))
    const some = await bench.run('wallet', 'multisig', 'combine', plain, file, '-o', bench.path('some.json'))
    expect(some).toMatchObject({ code: 0, err: '' })
    expect(some.out).toContain(`npx didledger wallet sign ${bench.path('some.json')}`)
    expect(some.out).toMatch(/fee +0\.0000/)
  })

  it('signs with the one account that is named', async () => {
    const wallet = bench.path('own.json')
    await bench.json('wallet', 'create', '--wallet', wallet)
    await bench.json('wallet', 'address', '--wallet', wallet, '--new')
    const accounts = await bench.json<{ publicKey: string }[]>('wallet', 'address', '--wallet', wallet)
    const both = accounts.flatMap(({ publicKey }) => ['--key', publicKey])
    const { address } = await bench.json('wallet', 'multisig', 'address', '--required', '2', ...both)
    node.fund(String(address), 500_000_000n)
    const file = bench.path('own-shared.json')
    const how = ['--rest', rest, '--genesis', bench.spec, '--to', recipient, '--amount', '1', '-o', file]
    await bench.json('wallet', 'multisig', 'build', '--required', '2', ...both, ...how)
    const one = await bench.json(
      'wallet',
      'sign',
      file,
      '--wallet',
      wallet,
      '--account',
      '1',
      '-o',
      bench.path('1.json'),
    )
    expect(one).toMatchObject({ signatures: [{ present: 1, signed: [accounts[1]?.publicKey] }] })
    expect(await bench.json('wallet', 'sign', file, '--wallet', wallet)).toMatchObject({ signed: true })
  })

  it('does not call an output change because a file says so', async () => {
    const file = await build()
    const json = JSON.parse(readFileSync(file, 'utf8')) as { spent: { address: string }[] }
    const lying = { ...json, spent: json.spent.map((spent) => ({ ...spent, address: recipient })) }
    const { out } = await bench.run('wallet', 'show', bench.write('lying.json', JSON.stringify(lying)))
    expect(out).toMatch(new RegExp(`pays +2\\.50000000  ${recipient}`))
    expect(out).toMatch(new RegExp(`change +7\\.4\\d+  ${shared}`))
  })

  it('refuses to combine other transactions, bad signatures, and files that differ in what is spent', async () => {
    const [file, other] = [await build(), await build('other.json')]
    await sign(file, 0, '-o', bench.path('a.json'))
    const good = bench.path('a.json')
    const json = JSON.parse(readFileSync(good, 'utf8')) as { hex: string; spent: { value: string }[] }
    const forged = json.hex.replace(/(014140[0-9a-f]{10})../, '$100')
    const bad = bench.write('bad.json', JSON.stringify({ ...json, hex: forged }))
    const poor = { ...json, spent: json.spent.map((spent) => ({ ...spent, value: '11.00000000' })) }
    const cases: [string, RegExp][] = [
      [other, /other\.json is another transaction, [0-9a-f]{64}, than .*a\.json/],
      [bad, /bad\.json: the signatures of 8\w+ are not right: signature 1 is by none of its keys/],
      [bench.write('poor.json', JSON.stringify(poor)), /the files differ in what the inputs are worth/],
      [bench.path('nowhere.json'), /cannot read the transaction file/],
    ]
    for (const [wrong, message] of cases) {
      const ran = await bench.run('wallet', 'multisig', 'combine', good, wrong, '-o', bench.path('out.json'))
      expect(ran).toMatchObject({ code: 1, out: '', err: expect.stringMatching(message) })
    }
  })

  it.each<[string, string[], 1 | 2, RegExp]>([
    ['no number of signatures', keyOptions, 2, /--required <m> is missing/],
    ['none needed', ['--required', '0', ...keyOptions], 2, /Not a number from 1 to 16/],
    ['17 needed', ['--required', '17', ...keyOptions], 2, /Not a number from 1 to 16/],
    ['more needed than there are keys', ['--required', '4', ...keyOptions], 1, /4 signatures of 3 keys/],
    ['no key', ['--required', '1'], 2, /--key KEY names a public key/],
    ['a key that is none', ['--required', '1', '--key', `05${first.slice(2)}`], 2, /--key: the key cannot be read/],
    [
      '17 keys',
      ['--required', '1', ...Array.from({ length: 17 }, () => ['--key', first]).flat()],
      1,
      /17 keys: .* 1 to 16/,
    ],
    ['two wallets', ['--required', '1', '--wallet', 'x', '--devnet-account', '1'], 2, /cannot be used with/],
  ])('says about %s what is wrong', async (_, args, code, message) => {
    const ran = await bench.run('wallet', 'multisig', 'address', ...args)
    expect(ran).toMatchObject({ code, out: '', err: expect.stringMatching(message) })
  })
})
