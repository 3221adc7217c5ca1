import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { commandsOf, repositoryFile } from '../support/assert/markdown.js'
import { besidesWaiting, CommandProcess, Directories, type Finished, NodeProcess } from '../support/process/spawn.js'

/** Credentials on a devnet of its own process, by the commands of docs/credentials.md and others. */

const directories = new Directories()
let devnet: NodeProcess
let cwd: string
beforeAll(async () => {
  cwd = directories.fresh('credentials')
  mkdirSync(cwd, { recursive: true })
  devnet = await NodeProcess.start('devnet')
})
afterAll(async () => {
  await devnet?.stop()
  directories.remove()
})

const run = (...args: string[]): Promise<Finished> => new CommandProcess(args, { cwd }).finished
/** A command with the options of the devnet; proofs need none. */
function didledger(...args: string[]): Promise<Finished> {
  return run(...args, ...(args.includes('--proof') ? [] : ['--rest', devnet.line.rest]))
}
const path = (name: string) => join(cwd, name)
const [university, ada] = [devnetAccount(0), devnetAccount(1)]

interface Report {
  readonly valid: boolean
  readonly checks: readonly { readonly name: string; readonly holds: boolean; readonly says: string }[]
}
async function reportOf(...args: string[]): Promise<Report> {
  const { code, out } = await didledger('did', 'verify-credential', ...args, '--json')
  const report = JSON.parse(out) as Report
  expect(code).toBe(report.valid ? 0 : 1)
  return report
}
const faultOf = async (...args: string[]) => (await reportOf(...args)).checks.find(({ holds }) => !holds)

it('docs/credentials.md shows commands that do what it says', async () => {
  const lines = commandsOf(repositoryFile('docs/credentials.md')).flatMap(({ command }) => command.split('\n'))
  expect(lines.length).toBeGreaterThan(15)
  for (const line of lines) {
    const [command = '', comment] = line.split(' # ')
    const [words = '', target] = command.replace('npx didledger ', '').split(' > ')
    const { code, out, err } = await didledger(...words.split(' '))
    expect({ line, code, err: besidesWaiting(err) }).toEqual({
      line,
      code: comment === 'exits with 1' ? 1 : 0,
      err: '',
    })
    if (target !== undefined) writeFileSync(path(target), out)
  }
})

describe('after it', () => {
  it('the credential is revoked for a verifier with a node, and valid by a proof of before, which says so', async () => {
    expect(await faultOf('degree.json')).toMatchObject({
      name: 'status',
      says: expect.stringContaining(`it was revoked by ${university.did}`),
    })
    const proofs = ['--proof', 'issuer.proof', '--proof', 'degree.proof', '--trust', 'devnet']
    const { code, out } = await didledger('did', 'verify-credential', 'degree.json', ...proofs)
    expect(code).toBe(0)
    expect(out).toMatch(/proved as of {2}height \d+, \d+ s ago; what came later is not known/)
  })

  it('proofs that leave something out prove nothing', async () => {
    const { code, err } = await run(
      'did',
      'verify-credential',
      'degree.json',
      '--proof',
      'issuer.proof',
      '--trust',
      'devnet',
    )
    expect(code).toBe(1)
    expect(err).toContain(`no proof of ${ada.did}#degree was given`)
    const { out } = await didledger('did', 'prove', `${ada.did}#degree`)
    writeFileSync(path('without-issuer.proof'), out)
    const left = ['--proof', 'issuer.proof', '--proof', 'without-issuer.proof', '--trust', 'devnet']
    // It was declared, so the word of its issuer is in the proof all the same.
    const { out: printed } = await run('did', 'verify-credential', 'degree.json', ...left)
    expect(printed).toContain('it was revoked by')
  })

  it('of a credential that was never declared, a proof without the issuer leaves its revoke out, and is not taken', async () => {
    const { out } = await didledger('did', 'prove', `${ada.did}#member`)
    writeFileSync(path('member.proof'), out)
    const args = [
      'did',
      'verify-credential',
      'member.jwt',
      '--proof',
      'issuer.proof',
      '--proof',
      'member.proof',
      '--trust',
      'devnet',
    ]
    expect((await run(...args)).err).toContain(`--issuer ${university.did}`)
  })

  it('a JWT is revoked by its issuer, though it was never declared, and not by a stranger', async () => {
    expect((await didledger('did', 'create', '--devnet-account', '2')).code).toBe(0)
    expect((await didledger('did', 'revoke', `${ada.did}#member`, '--devnet-account', '2')).code).toBe(0)
    expect(await faultOf('member.jwt')).toBeUndefined()
    expect((await didledger('did', 'revoke', `${ada.did}#member`, '--devnet-account', '0')).code).toBe(0)
    expect(await faultOf('member.jwt')).toMatchObject({ name: 'status' })
    expect((await faultOf('shown.jwt', '--realm', 'https://jobs.example', '--nonce', '90bb17aa'))?.name).toBe(
      'credentials',
    )
  })

  it('a holder who takes the id for a credential of their own has not kept the one of the issuer', async () => {
    const to = ['--subject', ada.did, '--id', 'taken', '--claim', 'a=b']
    await didledger('did', 'issue', '--devnet-account', '0', '--type', 'T', ...to, '-o', 'taken.json')
    await didledger('did', 'issue', '--devnet-account', '1', '--type', 'T', ...to, '-o', 'own.json')
    expect((await didledger('did', 'declare', 'own.json', '--devnet-account', '1')).code).toBe(0)
    expect((await didledger('did', 'revoke', `${ada.did}#taken`, '--devnet-account', '0')).code).toBe(1)
    expect(await faultOf('taken.json')).toMatchObject({
      name: 'status',
      says: expect.stringContaining('declared as a credential of'),
    })
    expect(await faultOf('own.json')).toBeUndefined()
  })

  it('a clock that moves ends a credential', async () => {
    await didledger(
      'did',
      'issue',
      '--devnet-account',
      '0',
      '--type',
      'T',
      '--claim',
      'a=b',
      '--years',
      '1',
      '-o',
      'short.json',
    )
    expect(await faultOf('short.json')).toBeUndefined()
    const body = JSON.stringify({ method: 'dev_increaseTime', params: { seconds: 366 * 86_400 } })
    await fetch(devnet.line.rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(await faultOf('short.json')).toMatchObject({ name: 'dates' })
  })
})

describe('words for mistakes', () => {
  it.each<[string, string[], string]>([
    [
      'a presentation without a question',
      ['shown.json'],
      'is a presentation: --realm and --nonce say what was asked for',
    ],
    ['a nonce for a credential', ['degree.json', '--nonce', 'x'], 'is no presentation'],
    ['proofs without a chain', ['degree.json', '--proof', 'issuer.proof'], '--proof needs --trust'],
    ['a chain without proofs', ['degree.json', '--trust', 'devnet'], '--trust is for --proof'],
  ])('%s', async (_, args, message) => {
    const { code, err } = await run('did', 'verify-credential', ...args)
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
  })

  it.each<[string, string[], string]>([
    ['nothing that it says', ['--type', 'T'], 'a credential says something'],
    ['a claim twice', ['--type', 'T', '--claim', 'a=1', '--claim', 'a=2'], 'the claim a is given twice'],
    ['a claim without a name', ['--type', 'T', '--claim', '=1'], 'A claim has the form name=text'],
    ['a subject that is no DID, as JSON', ['--type', 'T', '--claim', 'a=1', '--subject', 'ada'], 'subject'],
    ['no type', ['--claim', 'a=1'], '--type <name> is missing'],
  ])('issue: %s', async (_, args, message) => {
    const { code, err } = await didledger('did', 'issue', '--devnet-account', '0', ...args)
    expect(code).not.toBe(0)
    expect(err).toContain(message)
  })

  it.each(['degree.json', 'member.jwt'])('present: the credential %s twice', async (file) => {
    writeFileSync(path('copy'), `${readFileSync(path(file), 'utf8')}\n`)
    const args = [file, 'copy', '--devnet-account', '1', '--realm', 'a', '--nonce', 'b']
    const { code, err } = await didledger('did', 'present', ...args)
    expect([code, err]).toEqual([2, expect.stringContaining('copy holds a credential that is given twice')])
  })

  it('a file that is no credential is not valid, and says why', async () => {
    for (const text of ['', '{}', 'x', 'a.b.c', readFileSync(path('degree.json'), 'utf8').slice(0, -9)]) {
      writeFileSync(path('odd'), text)
      const { code, out } = await didledger('did', 'verify-credential', 'odd')
      expect([code, out]).toEqual([1, expect.stringContaining('FAILS')])
    }
  })

  it('a DID that has expired signs nothing', async () => {
    expect((await didledger('did', 'create', '--devnet-account', '5', '--years', '1')).code).toBe(0)
    const body = JSON.stringify({ method: 'dev_increaseTime', params: { seconds: 366 * 86_400 } })
    await fetch(devnet.line.rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { code, err } = await didledger('did', 'issue', '--devnet-account', '5', '--type', 'T', '--claim', 'a=1')
    expect([code, err]).toEqual([1, expect.stringContaining('has expired')])
  })
})

describe('an origin', () => {
  let server: Server
  let origin: string
  let answer = { status: 200, text: '' }
  beforeAll(async () => {
    server = createServer((request, response) => {
      const location = request.url === '/.well-known/did-configuration.json' ? {} : { location: '/elsewhere' }
      response.writeHead(answer.status, { ...location, 'content-type': 'application/json' }).end(answer.text)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())
  const check = () => didledger('did', 'check-domain', origin)

  it('is asked for its DID configuration', async () => {
    const made = await didledger('did', 'configure-domain', origin, '--devnet-account', '2')
    expect(made.err).toBe('')
    answer = { status: 200, text: made.out }
    const { code, out, err } = await check()
    expect([code, err, out]).toEqual([
      0,
      '',
      expect.stringContaining(`${devnetAccount(2).did} is linked with ${origin}`),
    ])
  })

  it('that has none, or one of another origin, is not linked', async () => {
    answer = { status: 404, text: '' }
    expect((await check()).err).toContain('answered HTTP 404: there is no DID configuration')
    answer = { status: 200, text: readFileSync(path('did-configuration.json'), 'utf8') }
    const { code, out } = await check()
    expect([code, out]).toEqual([1, expect.stringContaining('it claims https://example.org')])
  })
})
