import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatPrivateKey, formatPublicKey, keyForms } from '../../../../src/base/crypto/key-forms.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import type { DidOperationJson } from '../../../../src/base/primitives/did-operation.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import type { SigningAccount } from '../../../../src/clients/wallet/accounts.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { documentOf } from '../../../../src/clients/wallet/did-identity.js'
import { FakeNode } from '../../../support/fakes/fake-node.js'
import { specText, Workbench } from '../../../support/process/workbench.js'

const [ada, bob] = [0, 1].map(devnetAccount) as [SigningAccount, SigningAccount]
const bobKey = toHex(bob.publicKey)

describe('options that name keys', () => {
  let bench: Workbench
  let node: FakeNode
  let online: string[]
  const as = (n: number) => ['--devnet-account', String(n), ...online]
  beforeEach(async () => {
    bench = new Workbench()
    node = new FakeNode()
    node.spec = parseSpec(specText())
    online = ['--rest', await node.start(), '--genesis', bench.spec]
    for (const { address } of [ada, bob]) node.fund(address, 10_000_000_000n)
    await bench.json('did', 'create', ...as(0))
  })
  afterEach(async () => {
    bench.close()
    await node.stop()
  })

  const last = () => {
    const json = node.blocks.at(-1)?.transactions[0]?.toJSON()
    if (json === undefined) throw new Error('nothing was mined')
    return json.payload as DidOperationJson
  }
  const names = (list: 'authentication' | 'authorization') =>
    [...documentOf(last().payload)[list].keys()].map((id) => id.slice(id.indexOf('#')))
  const update = (...args: string[]) => bench.run('did', 'update', ...args, ...as(0))

  it.each(keyForms)('add a key as %s, in the call or in a file', async (form) => {
    const text = formatPublicKey(bob.publicKey, form)
    expect((await update('--add-key', `laptop,${text}`)).err).toBe('')
    expect(names('authentication')).toEqual(['#laptop', '#primary', '#recovery'])
    expect((await update('--remove-key', '#laptop')).err).toBe('')
    expect((await update('--add-key', `laptop,${bench.write('laptop.key', text)}`)).err).toBe('')
    expect(names('authentication')).toEqual(['#laptop', '#primary', '#recovery'])
  })

  it('add a key of another DID, authorise one, and take that back', async () => {
    await update('--add-key', `shown,${formatPublicKey(bob.publicKey, 'jwk')},${bob.did}`)
    expect(documentOf(last().payload).keys.map(({ controller }) => controller)).toEqual([ada.did, ada.did, bob.did])
    await update('--remove-key', 'shown', '--authorize', `helper,${bob.did},${bobKey}`)
    expect(names('authorization')).toEqual(['#helper'])
    await update('--revoke-authorization', 'helper')
    expect(names('authorization')).toEqual([])
    await update('--authorize', `helper,${bob.did},${bobKey}`)
    const ended = await bench.json('did', 'deactivate', '--for', ada.did, ...as(1))
    expect(ended).toMatchObject({ did: ada.did })
    expect(last().proof.verificationMethod).toBe('#helper')
  })

  it('sign with a key of the wallet by its name, and with one in a file', async () => {
    await update('--years', '2', '--sign-with', 'recovery')
    expect(last().proof.verificationMethod).toBe('#recovery')
    await update('--add-key', `laptop,${bobKey}`)
    for (const form of keyForms) {
      const file = bench.writeSecret(`key.${form}`, formatPrivateKey(bob.privateKey, form))
      expect((await update('--years', '3', '--sign-with', file)).err).toBe('')
      expect(last().proof.verificationMethod).toBe('#laptop')
    }
    const file = bench.writeSecret('bob.pem', formatPrivateKey(bob.privateKey, 'pem'))
    const prepared = bench.path('spare.json')
    await update('--years', '5', '-o', prepared)
    await update('--years', '1')
    await bench.json('did', 'update', '--rebase', prepared, '--sign-with', file, ...as(1))
    expect(last()).toMatchObject({ header: { operation: 'update' }, proof: { verificationMethod: '#laptop' } })
    expect(documentOf(last().payload).expires).toBe('2035-01-01T00:00:00Z')
    await bench.json('did', 'deactivate', '--for', ada.did, '--sign-with', file, ...as(1))
    expect(last()).toMatchObject({ header: { operation: 'deactivate' }, proof: { verificationMethod: '#laptop' } })
  })

  it('sign for another DID what the account pays', async () => {
    await update('--add-key', `laptop,${bobKey}`)
    const file = bench.writeSecret('bob.pem', formatPrivateKey(bob.privateKey, 'pem'))
    await bench.json('did', 'revoke', `${ada.did}#degree`, '--for', ada.did, '--sign-with', file, ...as(1))
    expect(last().proof.verificationMethod).toBe(`${ada.did}#laptop`)
  })

  it('find a key by its name in another account of the wallet', async () => {
    const keys = ['--wallet', bench.path('w.json')]
    await bench.json('wallet', 'create', ...keys)
    const [, other] = await bench.json<{ publicKey: string; address: string }[]>('wallet', 'address', '--new', ...keys)
    const [first] = await bench.json<{ address: string }[]>('wallet', 'address', ...keys)
    node.fund(first?.address as string, 10_000_000_000n)
    await bench.json('did', 'create', ...keys, ...online)
    await bench.json('did', 'update', '--add-key', `second,${other?.publicKey}`, ...keys, ...online)
    await bench.json('did', 'update', '--years', '2', '--sign-with', 'second', ...keys, ...online)
    expect(last().proof.verificationMethod).toBe('#second')
  })

  it.each<[string, string[], string]>([
    ['a key without a name', ['--add-key', bobKey], '--add-key takes name,key or name,key,controller'],
    ['a key that is none', ['--add-key', 'x,abc'], '--add-key: the key cannot be read: it is base58 of 3 bytes'],
    ['a controller that is none', ['--add-key', `x,${bobKey},did:ledger:X`], '--add-key: did:ledger:X is not a DID'],
    ['half an authorization', ['--authorize', `x,${bob.did}`], '--authorize takes name,did,key'],
    ['an authorization of nobody', ['--authorize', `x,bob,${bobKey}`], '--authorize: bob is not a DID of this chain'],
    ['a key to sign with that is nowhere', ['--years', '1', '--sign-with', 'x'], '--sign-with names neither a key of'],
    ['a rebase with a key', ['--add-key', `x,${bobKey}`, '--rebase', 'f'], 'cannot be used with'],
  ])('refuse %s as a wrong call: exit code 2', async (_, args, fault) => {
    const ran = await update(...args)
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining(fault)])
  })

  it.each<[string, string[], string]>([
    ['the default key to remove', ['--remove-key', 'primary'], '#primary is the default key'],
    ['an authorization that is none', ['--revoke-authorization', 'recovery'], '#recovery is no authorization'],
    ['a name that is taken', ['--add-key', `recovery,${bobKey}`], 'has a key #recovery already'],
  ])('refuse %s', async (_, args, fault) => {
    const ran = await update(...args)
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(fault)])
  })

  it('show no part of a private key that was given by mistake', async () => {
    for (const form of keyForms) {
      const text = formatPrivateKey(bob.privateKey, form)
      for (const args of [
        ['--add-key', `x,${text}`],
        ['--authorize', `x,${bob.did},${text}`],
        ['--years', '1', '--sign-with', text],
      ]) {
        const { code, err } = await update(...args)
        expect(code).toBe(2)
        expect(err).not.toContain(text.slice(-20))
        expect(err).not.toContain(text.slice(40, 60))
      }
    }
  })

  it('refuse a name whose private key the wallet lacks, a key that may not sign, and a file that others may read', async () => {
    await update('--add-key', `laptop,${bobKey}`)
    const lacking = await update('--years', '1', '--sign-with', 'laptop')
    expect(lacking.err).toContain('this wallet has no private key of #laptop; --sign-with takes a file with it as well')
    const stranger = bench.writeSecret('s.pem', formatPrivateKey(devnetAccount(2).privateKey, 'pem'))
    expect((await update('--years', '1', '--sign-with', stranger)).err).toContain('may not sign an update of')
    const shared = bench.write('shared.pem', formatPrivateKey(bob.privateKey, 'pem'))
    expect((await update('--years', '1', '--sign-with', shared)).err).toContain('shared.pem')
    const open = bench.writeSecret('p.pem', formatPublicKey(bob.publicKey, 'pem'))
    expect((await update('--years', '1', '--sign-with', open)).err).toContain('is a public key')
  })
})
