import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationJson } from '../../src/base/primitives/did-operation.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { documentOf, updateIdentity } from '../../src/clients/wallet/did-identity.js'
import { commandsOf, repositoryFile } from '../support/assert/markdown.js'
import { CommandProcess, Directories, type Finished, NodeProcess, runJson } from '../support/process/spawn.js'

/** Keys of DIDs on a devnet of its own process: those of docs/lost-keys.md, and what the chain says of removed ones. */

const directories = new Directories()
let devnet: NodeProcess
let cwd: string
beforeAll(async () => {
  cwd = directories.fresh('keys')
  mkdirSync(cwd, { recursive: true })
  devnet = await NodeProcess.start('devnet')
})
afterAll(async () => {
  await devnet?.stop()
  directories.remove()
})

const rest = () => ['--rest', devnet.line.rest]
const didledger = (...args: string[]): Promise<Finished> =>
  new CommandProcess([...args, ...rest()], { cwd, env: { DIDLEDGER_PASSWORD: 'correct horse' } }).finished

const resolve = async (did: string) => {
  const { status, transaction = [] } = await devnet.client.resolve(did)
  return { status, transaction }
}

describe('docs/lost-keys.md', () => {
  it('shows commands that do what it says', async () => {
    const lines = commandsOf(repositoryFile('docs/lost-keys.md')).flatMap(({ command }) => command.split('\n'))
    expect(lines.length).toBeGreaterThan(15)
    const offline = / wallet (?:create|export|import) /
    const ada = devnetAccount(0).did
    const signers: string[] = []
    for (const line of lines) {
      const args = line.replace('npx didledger ', '').split(' ')
      const ran = new CommandProcess([...args, ...(offline.test(line) ? [] : rest())], {
        cwd,
        env: { DIDLEDGER_PASSWORD: 'correct horse' },
      })
      const { code, err } = await ran.finished
      expect({ line, code, err }).toEqual({ line, code: 0, err: '' })
      if (/did (?:update|deactivate)/.test(line)) {
        const [last] = (await resolve(ada)).transaction
        signers.push(last?.operation.proof.verificationMethod ?? '')
      }
    }
    expect(signers).toContain('#phone')
    expect((await resolve(ada)).status).toBe(2)
    expect((await resolve(devnetAccount(3).did)).status).toBe(2)
  })
})

describe('a second key', () => {
  const owner = devnetAccount(4)
  const as = ['--devnet-account', '4']
  const signedBy = async () => (await resolve(owner.did)).transaction[0]?.operation.proof.verificationMethod

  it('signs updates until it is removed, and is refused from then on, by the chain too', async () => {
    await runJson('did', 'create', ...as, ...rest())
    writeFileSync(join(cwd, 'second.hex'), Buffer.from(devnetAccount(5).privateKey).toString('hex'), { mode: 0o600 })
    const publicKey = Buffer.from(devnetAccount(5).publicKey).toString('hex')
    expect((await didledger('did', 'update', '--add-key', `second,${publicKey}`, ...as)).err).toBe('')
    const with2 = ['--sign-with', 'second.hex']
    expect((await didledger('did', 'update', '--years', '2', ...with2, ...as)).err).toBe('')
    expect(await signedBy()).toBe('#second')
    const [before] = (await resolve(owner.did)).transaction
    expect((await didledger('did', 'update', '--remove-key', 'second', ...as)).err).toBe('')
    expect((await didledger('did', 'update', '--years', '3', ...with2, ...as)).err).toContain('may not sign an update')

    // What the command would not sign is sent as another program would.
    const [{ txid } = { txid: '' }] = (await resolve(owner.did)).transaction
    const context = { account: owner, specification: 'ledger/did/1.0', created: '2026-01-01T00:00:00Z' }
    const current = { document: documentOf(before?.operation.payload ?? ''), txid }
    const signWith = devnetAccount(5).privateKey
    const forged = updateIdentity({ ...context, signWith }, current, { expires: '2031-01-01T00:00:00Z' })
    writeFileSync(join(cwd, 'forged.json'), JSON.stringify(operationJson(forged)))
    const refused = await didledger('did', 'publish', 'forged.json', ...as)
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining('#second does not stand in authentication'),
    ])
  })

  it('of another DID deactivates once it is authorised, and only then', async () => {
    const friend = devnetAccount(6)
    const publicKey = Buffer.from(friend.publicKey).toString('hex')
    const deactivate = () => didledger('did', 'deactivate', '--for', owner.did, '--devnet-account', '6')
    expect((await deactivate()).err).toContain('no key of this account may deactivate')
    const authorize = ['--authorize', `friend,${friend.did},${publicKey}`]
    expect((await didledger('did', 'update', ...authorize, ...as)).err).toBe('')
    const prepared = ['did', 'deactivate', '--for', owner.did, '--devnet-account', '6', '-o', 'end.json']
    expect((await didledger(...prepared)).err).toBe('')
    expect((await didledger('did', 'update', '--revoke-authorization', 'friend', ...as)).err).toBe('')
    const revoked = await didledger('did', 'publish', 'end.json', ...as)
    expect([revoked.code, revoked.err]).toEqual([1, expect.stringContaining('#friend does not stand in')])
    expect((await didledger('did', 'update', ...authorize, ...as)).err).toBe('')
    expect((await deactivate()).err).toBe('')
    expect(await resolve(owner.did)).toMatchObject({
      status: 2,
      transaction: [{ operation: { proof: { verificationMethod: '#friend' } } }],
    })
  })
})
