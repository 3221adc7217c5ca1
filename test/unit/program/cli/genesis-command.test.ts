import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'
import { readValidatorKey } from '../../../../src/program/cli/validator-key.js'
import { formatPrivateKey, keyForms } from '../../../../src/base/crypto/key-forms.js'
import { publicKeyOf } from '../../../../src/base/crypto/keys.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { shippedSpecs, shippedTrustFile } from '../../../../src/node/library/shipped.js'
import { displayHash, fromHex, hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { genesisBlock } from '../../../../src/base/primitives/genesis.js'
import { paramsAt } from '../../../../src/base/primitives/spec.js'
import { readTrust } from '../../../../src/identity/proofs/trust-root.js'
import { devnetAccount, devnetValidatorKey } from '../../../../src/clients/wallet/devnet-accounts.js'
import { testSpec } from '../../../support/builders/spec.js'
import { testNow, Workbench } from '../../../support/process/workbench.js'

const bench = new Workbench()
afterAll(() => bench.close())
const { address } = devnetAccount(0)
const twice = [0, 0].flatMap((i) => ['--validator', toHex(devnetValidatorKey(i).publicKey)])

interface Created {
  readonly file: string
  readonly genesis: string
  readonly validators: readonly string[]
  readonly keys: readonly { readonly file: string; readonly publicKey: string }[]
}

describe('genesis create', () => {
  let created: Created
  beforeAll(async () => {
    const options = ['--pay', address, '--directory', bench.path('corp')]
    created = await bench.json<Created>('genesis', 'create', 'corp', ...options)
  })

  it('writes a spec that nodes take', () => {
    const spec = loadSpec(created.file)
    expect(spec).toMatchObject({ name: 'corp', devnet: false, producer: 'sponsor', time: testNow })
    expect(genesisBlock(spec).hash).toBe(created.genesis)
    expect(paramsAt(spec, 1)).toMatchObject({
      validators: created.validators.map(hex),
      specifications: { did: ['corp/did/1.0'], credential: ['corp/credential/1.0'] },
    })
  })

  it('writes a key for each of its validators, for the eyes of their owner', () => {
    expect(created.keys.map(({ publicKey }) => publicKey)).toEqual(created.validators)
    expect(new Set(created.validators).size).toBe(4)
    for (const { file, publicKey } of created.keys) {
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(toHex(readValidatorKey(file).publicKey)).toBe(publicKey)
    }
  })

  it('gives every chain ids of its own', async () => {
    const other = await bench.json<Created>(
      'genesis',
      'create',
      'other',
      '--pay',
      address,
      '--directory',
      bench.path('o'),
    )
    expect(loadSpec(other.file).auxpowChainId).not.toBe(loadSpec(created.file).auxpowChainId)
    expect(other.validators).not.toEqual(created.validators)
  })

  it('says when the first block comes', async () => {
    const options = ['--pay', address, '--directory', bench.path('when')]
    expect((await bench.run('genesis', 'create', 'when', ...options)).out).toContain(
      'The first block comes 60 s after the start, or 1 s after the start if a transaction waits, once 3 of its 4 validators run.\n',
    )
  })

  it('overwrites nothing', async () => {
    const before = readFileSync(created.file, 'utf8')
    const again = await bench.run('genesis', 'create', 'corp', '--pay', address, '--directory', bench.path('corp'))
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('exists already') })
    expect(readFileSync(created.file, 'utf8')).toBe(before)
  })

  it('takes public keys, an amount and the strings of SDKs', async () => {
    const validators = [0, 1].map((i) => toHex(devnetValidatorKey(i).publicKey))
    const keys = validators.flatMap((key) => ['--validator', key])
    const more = ['--amount', '5', '--sdk-strings', '--directory', bench.path('given')]
    const given = await bench.json<Created>('genesis', 'create', 'given', '--pay', address, ...keys, ...more)
    expect(given).toMatchObject({ validators, keys: [] })
    const spec = loadSpec(given.file)
    expect(spec.allocations.map(({ amount }) => amount)).toEqual([500_000_000n])
    expect(paramsAt(spec, 1).specifications.did).toEqual(['given/did/1.0', 'elastos/did/1.0'])
    expect([paramsAt(spec, 1).didRoot, spec.sideChainOrder]).toEqual([true, true])
    expect(existsSync(bench.path('given/validator-1.key'))).toBe(false)
  })

  it('takes names of validators', async () => {
    const [ada, other] = [0, 1].map((i) => toHex(devnetValidatorKey(i).publicKey)) as [string, string]
    const keys = ['--validator', `Ada Corp.,${ada}`, '--validator', other]
    const place = ['--directory', bench.path('named')]
    const { out } = await bench.run('genesis', 'create', 'named', '--pay', address, ...keys, ...place)
    expect(out).toContain(`validator 1  ${ada}  Ada Corp.\n  validator 2  ${other}\n`)
    const file = bench.path('named/named.json')
    expect(loadSpec(file).validatorNames).toEqual({ [ada]: 'Ada Corp.' })
    expect(await bench.json('genesis', 'show', file)).toMatchObject({ validatorNames: { [ada]: 'Ada Corp.' } })
  })

  it.each([
    [['Corp', '--pay', address], 'small letters'],
    [['corp2'], '--pay <address> is missing'],
    [['corp2', '--pay', 'x'], 'Not an address'],
    [['corp2', '--pay', address, '--validators', '0'], 'Not a number from 1 to 100'],
    [['corp2', '--pay', address, '--validators', '101'], 'Not a number from 1 to 100'],
    [['corp2', '--pay', address, '--validator', '05'.repeat(33)], '--validator: the key cannot be read'],
    [['corp2', '--pay', address, '--validator', `,${twice[1]}`], 'The name of a validator has 1 to 32 characters'],
    [
      ['corp2', '--pay', address, '--validator', `${'x'.repeat(33)},${twice[1]}`],
      'The name of a validator has 1 to 32 characters',
    ],
    [
      ['corp2', '--pay', address, '--validators', '1', '--validator', toHex(devnetValidatorKey().publicKey)],
      'cannot be used with',
    ],
    [['corp2', '--pay', address, '--amount', '0'], '--amount 0: nobody could ever pay a fee'],
    [
      ['corp2', '--pay', address, '--amount', '33000000.00000001'],
      '--amount 33000000.00000001 is more than a chain holds, 33000000.00000000',
    ],
    [['corp2', '--pay', address, ...twice], `--validator ${twice[1]} is given twice`],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await bench.run('genesis', 'create', ...args)
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
  })

  it('names a directory that cannot be made', async () => {
    const directory = bench.write('in-the-way', '')
    const args = ['--pay', address, '--directory', directory]
    expect(await bench.run('genesis', 'create', 'rich', ...args)).toMatchObject({
      code: 1,
      err: `error: cannot make the directory ${directory}: a file of that name is in the way\n`,
    })
  })
})

describe('genesis show', () => {
  it('tells name, hash, validators and quorum', async () => {
    const shown = await bench.json('genesis', 'show', 'localnet')
    const spec = loadSpec('localnet')
    expect(shown).toMatchObject({
      name: 'localnet',
      genesis: genesisBlock(spec).hash,
      sections: [
        { height: 0, quorum: 3, validators: paramsAt(spec, 0).validators.map(toHex), didCore: false },
        { height: 1, quorum: 3, validators: paramsAt(spec, 1).validators.map(toHex), didCore: true },
      ],
    })
    const { out } = await bench.run('genesis', 'show', 'localnet')
    expect(out).toContain('confirmed by  3 of 4')
    expect(out).toMatch(
      /From height 1\n  DID names +10\.0{8}, .*, by their length\n  documents +with the members of DID Core\n$/,
    )
    expect((await bench.run('genesis', 'show', 'pow')).out).toContain('confirmed by  work alone')
  })

  it('tells what upgrades change', async () => {
    const text = JSON.parse(readFileSync(bench.spec, 'utf8')) as object
    const key = toHex(devnetValidatorKey(1).publicKey)
    const upgrades = [{ height: 9, name: 'hand over', parameters: { validators: [key] } }]
    const { out } = await bench.run('genesis', 'show', bench.write('later.json', JSON.stringify({ ...text, upgrades })))
    expect(out).toMatch(new RegExp(`From height 9\n  validator 1 +${key}`))
  })

  it('tells the rules of a height once, however many upgrades it has', async () => {
    const text = JSON.parse(readFileSync(bench.spec, 'utf8')) as object
    const key = toHex(devnetValidatorKey(1).publicKey)
    const upgrades = [
      { height: 9, name: 'hand over', parameters: { validators: [key] } },
      { height: 9, name: 'dearer', parameters: { fees: { minimum: '500000000', perByte: '0' } } },
    ]
    const file = bench.write('twice.json', JSON.stringify({ ...text, upgrades }))
    const { sections } = await bench.json<{ sections: object[] }>('genesis', 'show', file)
    expect(sections).toMatchObject([
      { height: 0 },
      { height: 9, validators: [key], fees: { minimum: '5.00000000', perByte: '0.00000000' } },
    ])
    const { out } = await bench.run('genesis', 'show', file)
    expect(out.split('From height 9')).toHaveLength(2)
  })
})

describe('a validator key', () => {
  it('is made by genesis key', async () => {
    const file = bench.path('validator.key')
    const { publicKey } = await bench.json<{ publicKey: string }>('genesis', 'key', file)
    const pair = readValidatorKey(file)
    expect(toHex(pair.publicKey)).toBe(publicKey)
    expect(toHex(publicKeyOf(pair.privateKey))).toBe(publicKey)
    expect(await bench.run('genesis', 'key', file)).toMatchObject({ code: 1 })
  })

  it('goes to standard output as -, alone', async () => {
    const { code, out, err } = await bench.run('genesis', 'key', '-')
    expect([code, out]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)])
    expect(err).toContain(toHex(publicKeyOf(fromHex(out.trim()) as Uint8Array)))
    expect(err).toMatch(/^Wrote the private key to standard output.*--validator-key FILE\.\n$/s)
  })

  it('must not be for others to read', () => {
    const file = bench.write('open.key', `${'01'.repeat(32)}\n`)
    chmodSync(file, 0o640)
    expect(() => readValidatorKey(file)).toThrow(/others may read .* chmod 600/)
    chmodSync(file, 0o400)
    expect(toHex(readValidatorKey(file).privateKey)).toBe('01'.repeat(32))
  })

  it.each(['', '01', 'x'.repeat(64), '00'.repeat(32), 'ff'.repeat(32), `${'01'.repeat(32)} 01`])(
    'is not %j',
    (text) => {
      const file = bench.write('bad.key', text)
      chmodSync(file, 0o600)
      expect(() => readValidatorKey(file)).toThrow(UserError)
      expect(() => readValidatorKey(file)).toThrow('the validator key in')
    },
  )

  it('is read in the forms of other tools', () => {
    const privateKey = Uint8Array.from({ length: 32 }, () => 1)
    for (const form of keyForms) {
      const file = bench.write('other.key', formatPrivateKey(privateKey, form))
      chmodSync(file, 0o600)
      expect(readValidatorKey(file).privateKey).toEqual(privateKey)
    }
  })

  it('has to be there', () => {
    expect(() => readValidatorKey(bench.path('none.key'))).toThrow(/cannot read the validator key/)
  })
})

describe('genesis trust', () => {
  it.each(shippedSpecs)('prints the file that comes with %s', async (name) => {
    const shipped = readFileSync(shippedTrustFile(name), 'utf8')
    expect(await bench.run('genesis', 'trust', name)).toEqual({ code: 0, out: shipped, err: '' })
    expect(await bench.json('genesis', 'trust', name)).toEqual(JSON.parse(shipped))
    expect(displayHash(readTrust(JSON.parse(shipped)).chain)).toBe(genesisBlock(loadSpec(name)).hash)
  })

  it('takes a file, and says from where on its blocks can be proved', async () => {
    const later = { didRoot: undefined, upgrades: [{ height: 7, name: 'roots', parameters: { didRoot: true } }] }
    const ran = await bench.run('genesis', 'trust', bench.write('later.json', testSpec(later)))
    expect(ran).toMatchObject({ code: 0, err: expect.stringContaining('from height 7 on') })
    expect(readTrust(JSON.parse(ran.out)).validators).toHaveLength(4)
  })

  it.each<[string, string, string]>([
    ['a chain whose blocks commit to nothing', testSpec({ didRoot: undefined }), 'nothing of it can be proved'],
    ['what is no spec', '{}', 'the chain spec is not valid'],
  ])('refuses %s', async (_, text, reason) => {
    const ran = await bench.run('genesis', 'trust', bench.write('unproved.json', text))
    expect(ran).toMatchObject({ code: 1, out: '', err: expect.stringContaining(reason) })
  })
})
