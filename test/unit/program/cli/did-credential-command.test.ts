import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { CredentialList, CredentialResult } from '../../../../src/identity/did/resolution.js'
import { createNode, type LedgerNode } from '../../../../src/index.js'
import { shippedSpecFile } from '../../../../src/node/library/shipped.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { issueCredential } from '../../../support/builders/did.js'
import { quickSigner } from '../../../support/builders/signatures.js'
import { Workbench } from '../../../support/process/workbench.js'

const [alice, bob, carol] = [devnetAccount(0), devnetAccount(1), devnetAccount(2)]
const id = `${alice.did}#profile`

/** A credential of Alice by Bob. */
const byBob = (changes: Record<string, unknown> = {}) =>
  issueCredential(bob.did, quickSigner(bob.privateKey), alice.did, { id, ...changes })

describe('didledger did, of credentials', () => {
  let bench: Workbench
  let node: LedgerNode
  let online: string[]
  const as = (n: number) => ['--devnet-account', String(n), ...online]
  const state = (of = id, ...more: string[]) =>
    bench.json<CredentialResult>('did', 'credential', of, ...more, ...online)

  beforeEach(async () => {
    bench = new Workbench()
    node = await createNode({ network: 'devnet', api: { portBase: 0, hosts: ['127.0.0.1'] } })
    online = ['--rest', node.api?.rest ?? '']
    for (const account of [alice, bob]) {
      const { txid } = await node.wallet.createDid({ account })
      await node.chain.waitFor(txid)
    }
  })
  afterEach(async () => {
    bench.close()
    await node.close()
  })

  it('signs by another specification that the chain accepts, and names those for one that it does not', async () => {
    const file = bench.write('degree.json', byBob())
    const out = bench.path('declare.json')
    await bench.json('did', 'declare', file, ...as(0), '-o', out, '--specification', 'elastos/credential/1.0')
    expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({ header: { specification: 'elastos/credential/1.0' } })
    expect(await bench.run('did', 'publish', out, ...as(0))).toMatchObject({ code: 0 })
    const { code, err } = await bench.run('did', 'revoke', id, ...as(0), '--specification', 'elastos/did/1.0')
    expect(code).toBe(2)
    expect(err).toContain('the chain accepts ledger/credential/1.0, elastos/credential/1.0 for these operations')
  })

  it('declares a credential, shows it, lists it, and revokes it as its issuer', async () => {
    expect(await state()).toEqual({ id, status: 3 })
    const none = await bench.run('did', 'credentials', alice.did, ...online)
    expect(none.out).toBe(`${alice.did} has declared no credentials.\n`)

    const file = bench.write('degree.json', byBob())
    const declared = await bench.run('did', 'declare', file, ...as(0))
    expect(declared).toMatchObject({ code: 0 })
    expect(declared.out).toContain(`Declared ${id}.`)
    expect(declared.out).toContain(`Next: npx didledger did credential '${id}'`)
    const shown = await bench.run('did', 'credential', id, ...online)
    expect(shown.out).toContain(`${id} is declared.`)
    expect(shown.out).toContain('"name": "Ada"')
    expect(await bench.json<CredentialList>('did', 'credentials', alice.did, ...online)).toEqual({
      did: alice.did,
      credentials: [id],
    })

    const revoked = await bench.run('did', 'revoke', id, ...as(1))
    expect(revoked.out).toContain(`Revoked ${id} as ${bob.did}.`)
    const { status, transaction = [] } = await state()
    expect([status, transaction.map(({ operation }) => operation.header.operation)]).toEqual([2, ['revoke', 'declare']])
    const after = await bench.run('did', 'credential', id, ...online)
    expect(after.out).toContain(`${id} is revoked.`)
    const second = await bench.run('did', 'declare', file, ...as(0))
    expect([second.code, second.err]).toEqual([1, expect.stringContaining('declared')])
  })

  it('counts a revoke by an issuer before a declare only where the issuer is named', async () => {
    await bench.json('did', 'revoke', id, ...as(1))
    expect(await state()).toEqual({ id, status: 3 })
    expect((await state(id, '--issuer', bob.did)).status).toBe(2)
    const refused = await bench.run('did', 'declare', bench.write('degree.json', byBob()), ...as(0))
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('revoked')])
  })

  it('pages through the list', async () => {
    for (const name of ['a', 'b', 'c']) {
      const file = bench.write(`${name}.json`, byBob({ id: `${alice.did}#${name}` }))
      await bench.json('did', 'declare', file, ...as(0))
    }
    const list = async (...page: string[]) =>
      (await bench.json<CredentialList>('did', 'credentials', alice.did, ...page, ...online)).credentials
    expect(await list()).toEqual(['a', 'b', 'c'].map((name) => `${alice.did}#${name}`))
    expect(await list('--skip', '1', '--limit', '1')).toEqual([`${alice.did}#b`])
    const beyond = await bench.run('did', 'credentials', alice.did, '--skip', '3', ...online)
    expect(beyond.out).toBe(`${alice.did} has declared no credentials after the first 3.\n`)
    const text = await bench.run('did', 'credentials', alice.did, '--skip', 'x', ...online)
    expect([text.code, text.err]).toEqual([2, expect.stringContaining('Not a whole number')])
  })

  it('refuses an expired credential unless told otherwise', async () => {
    const file = bench.write('old.json', byBob({ expirationDate: '2026-02-01T00:00:00Z' }))
    const refused = await bench.run('did', 'declare', file, ...as(0))
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('expired on 2026-02-01T00:00:00Z')])
    expect((await state()).status).toBe(3)
    expect((await bench.run('did', 'declare', file, '--force', ...as(0))).code).toBe(0)
    expect((await state()).status).toBe(1)
  })

  it('writes operations to files that any account publishes', async () => {
    const degree = bench.write('degree.json', byBob())
    const [declare, revoke] = [bench.path('declare.json'), bench.path('revoke.json')]
    const written = await bench.run('did', 'declare', degree, ...as(0), '-o', declare)
    expect(written.out).toContain(`Wrote the signed declare of ${alice.did}`)
    await bench.json('did', 'revoke', id, ...as(0), '-o', revoke)
    expect((await state()).status).toBe(3)
    const published = await bench.run('did', 'publish', declare, ...as(2))
    expect(published.out).toContain(`Next: npx didledger did credential '${id}'`)
    expect((await state()).status).toBe(0)
    await bench.json('did', 'publish', revoke, ...as(2))
    expect((await state()).status).toBe(2)
  })

  it.each([
    ['of another holder', byBob({ id: `${bob.did}#x`, credentialSubject: { id: bob.did } }), 'only its holder'],
    ['whose id is short', byBob({ id: '#profile' }), 'old.json holds no credential'],
    ['without a proof', '{"id": "x"}', 'old.json holds no credential'],
    ['that is no JSON', 'degree', 'old.json holds no credential'],
    ['that is a JWT', 'eyJhbGciOiJFUzI1NiJ9.e30.AA\n', 'old.json holds a JWT, and the chain takes credentials as JSON'],
    ['of an issuer that does not exist', byBob({ issuer: carol.did }), 'issuer'],
    ['whose proof is not by its issuer', byBob().replace('"Ada"', '"Bea"'), 'proof'],
  ])('refuses a credential %s', async (_, text, message) => {
    const { code, err } = await bench.run('did', 'declare', bench.write('old.json', text), ...as(0))
    expect([code, err]).toEqual([1, expect.stringContaining(message)])
  })

  it('refuses what is no id, and an account without a DID', async () => {
    for (const command of ['credential', 'revoke']) {
      for (const wrong of [
        '#profile',
        alice.did,
        `${alice.did}#`,
        `${alice.did}x#profile`,
        `did:other:${id.slice(11)}`,
      ]) {
        const { code, err } = await bench.run('did', command, wrong, ...online)
        expect([code, err]).toEqual([2, expect.stringContaining('Not the id of a credential')])
      }
    }
    const stranger = await bench.run('did', 'revoke', id, ...as(2))
    expect([stranger.code, stranger.err]).toEqual([1, expect.stringContaining(carol.did)])
  })
})

describe('didledger did, before an upgrade of the specifications', () => {
  it('signs for the next block of the node that it asks', async () => {
    const devnet = JSON.parse(readFileSync(shippedSpecFile('devnet'), 'utf8')) as object
    const specifications = { did: ['later/did/1.0'], credential: ['later/credential/1.0'] }
    const upgrades = [{ height: 1_000_000, name: 'later', parameters: { specifications } }]
    const spec = JSON.stringify({ ...devnet, upgrades })
    const node = await createNode({ spec, api: { portBase: 0, hosts: ['127.0.0.1'] } })
    const bench = new Workbench()
    onTestFinished(async () => {
      bench.close()
      await node.close()
    })
    const genesis = ['--genesis', bench.write('spec.json', spec)]
    const as = (n: number) => ['--devnet-account', String(n), ...genesis, '--rest', node.api?.rest ?? '']
    const done = async (...args: string[]) => expect(await bench.run('did', ...args)).toMatchObject({ code: 0 })

    for (const n of [0, 1]) await done('create', ...as(n))
    await done('declare', bench.write('degree.json', byBob()), ...as(0))
    await done('revoke', id, ...as(1))
    await done('update', '--years', '3', ...as(0))
    await done('deactivate', ...as(0))

    const [file, offline] = [bench.path('create.json'), as(2).slice(0, -2)]
    await done('create', ...offline, '-o', file)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ header: { specification: 'later/did/1.0' } })
  })
})
