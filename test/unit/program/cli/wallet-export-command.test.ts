import { readFileSync, statSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { formatPrivateKey, keyForms, readPrivateKey, readPublicKey } from '../../../../src/base/crypto/key-forms.js'
import type { SigningAccount } from '../../../../src/clients/wallet/accounts.js'
import { devnetAccount, devnetMnemonic } from '../../../../src/clients/wallet/devnet-accounts.js'
import { Workbench } from '../../../support/process/workbench.js'

const [ada, bob] = [0, 1].map(devnetAccount) as [SigningAccount, SigningAccount]

let bench: Workbench
let keys: string[]
beforeEach(async () => {
  bench = new Workbench()
  keys = ['--wallet', bench.path('w.json')]
  await bench.json('wallet', 'import', bench.write('words', devnetMnemonic), ...keys)
})
afterEach(() => bench.close())

it.each(keyForms)('prints keys as %s that can be read again', async (form) => {
  const shown = await bench.json<Record<string, string>>('wallet', 'export', '--format', form, ...keys)
  expect(shown).toMatchObject({ account: 0, did: ada.did, format: form })
  expect(readPrivateKey(shown['privateKey'] as string)).toEqual(new Uint8Array(ada.privateKey))
  const { out } = await bench.run('wallet', 'export', '--format', form, ...keys)
  expect(readPrivateKey(out)).toEqual(new Uint8Array(ada.privateKey))
  const second = await bench.run('wallet', 'export', '--recovery', '--public', '--format', form, ...keys)
  expect(readPublicKey(second.out)).toEqual(new Uint8Array(ada.recovery?.publicKey ?? []))
})

it('needs the password for private keys alone', async () => {
  bench.env = {}
  const open = await bench.run('wallet', 'export', '--public', ...keys)
  expect(readPublicKey(open.out)).toEqual(new Uint8Array(ada.publicKey))
  expect(await bench.run('wallet', 'export', ...keys)).toMatchObject({ code: 2, out: '' })
  bench.env = { DIDLEDGER_PASSWORD: 'wrong' }
  const wrong = await bench.run('wallet', 'export', ...keys)
  expect(wrong).toMatchObject({ code: 1, out: '', err: expect.stringContaining('wrong password') })
})

it('writes a private key for its owner alone, over no other file, and imports it again', async () => {
  const file = bench.path('key.pem')
  const wrote = await bench.run('wallet', 'export', '-o', file, '--devnet-account', '1')
  expect(wrote.out).toBe(`Wrote ${file}: the private key; keep the file to yourself.\n`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).toBe(formatPrivateKey(bob.privateKey, 'pem'))
  expect(await bench.run('wallet', 'export', '-o', file, ...keys)).toMatchObject({ code: 1 })
  const imported = await bench.json('wallet', 'import', file, '--wallet', bench.path('i.json'))
  expect(imported).toMatchObject({ address: bob.address })
  const none = await bench.run('wallet', 'export', '--recovery', '--wallet', bench.path('i.json'))
  expect(none.err).toContain('imported keys, whose accounts have no second key')
})

it('writes a key to standard output where - is named, and nothing else', async () => {
  const { out, err } = await bench.run('wallet', 'export', '--public', '-o', '-', ...keys)
  expect(readPublicKey(out)).toEqual(new Uint8Array(ada.publicKey))
  expect(err).toBe('Wrote standard output: the public key.\n')
})

it('refuses a form that is none', async () => {
  const ran = await bench.run('wallet', 'export', '--format', 'xml', ...keys)
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('hex, base58, pem, der, jwk') })
})
