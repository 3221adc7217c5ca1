import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { longestName } from '../../src/base/primitives/did-name.js'
import { commandsOf, repositoryFile } from '../support/assert/markdown.js'
import { besidesWaiting, CommandProcess, Directories, NodeProcess, run } from '../support/process/spawn.js'

const directories = new Directories()
const files = directories.fresh('drafts')
let node: NodeProcess
const dids: string[] = []
const did = (i: number) => dids[i] as string
/** Runs a command as an account of the devnet. */
const as = (account: number, ...args: string[]) =>
  run('did', ...args, '--devnet-account', String(account), '--rest', node.line.rest, '--json')
const file = (name: string) => join(files, name)

beforeAll(async () => {
  mkdirSync(files)
  writeFileSync(file('password'), 'a password of a test')
  node = await NodeProcess.start('devnet', '--data-dir', directories.fresh('devnet'))
  for (const account of [0, 1, 2]) {
    dids.push((JSON.parse((await as(account, 'create')).out) as { did: string }).did)
  }
})
afterAll(async () => {
  await node.stop()
  directories.remove()
})

describe('a DID that is recoverable by others', () => {
  it('has a name, and its controllers besides the account', async () => {
    const by = ['--recoverable-by', did(1), '--recoverable-by', did(2)]
    expect(await as(0, 'create', '--name', 'ada', ...by)).toMatchObject({ code: 0 })
    const ada = await run('did', 'resolve', 'did:ledger:ada', '--rest', node.line.rest)
    for (const controller of dids) expect(ada.out).toContain(`"${controller}"`)
    expect(ada.out).toContain('"multisig": "1:3"')

    const two = ['create', '--name', 'ida', ...by, '--needed', '2']
    expect((await as(0, ...two)).err).toContain('give -o FILE')
    expect(await as(0, ...two, '-o', file('ida.json'))).toMatchObject({ code: 0 })
    expect((await run('did', 'name', 'show', file('ida.json'), '--rest', node.line.rest)).out).toContain(
      'signed by 2 of',
    )
  })

  it.each([
    [['--recoverable-by', 'DID'], 'give --name'],
    [['--needed', '2'], 'give --name'],
    [['--name', 'eve', '--recovery', 'DID', 'KEY'], 'cannot be used with'],
    [['--name', 'Eve', '--recoverable-by', 'DID'], 'cannot be a name'],
    [['--name', 'eve', '--recoverable-by', 'someone'], '--recoverable-by'],
  ])('is not made by %j', async (options, said) => {
    const given = options.map((text) => (text === 'DID' ? did(1) : text))
    const refused = await as(0, 'create', ...given)
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(said)])
  })
})

describe('a DID of three people, two of whom sign', () => {
  it('is made, changed, given away and ended by commands', async () => {
    const club = ['name', 'create', 'club', '--controller', did(1), '--controller', did(2), '--needed', '2']
    const alone = await as(0, ...club)
    expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('give -o FILE')])
    expect((await as(0, ...club, '-o', file('club.json'))).code).toBe(0)
    const early = await as(0, 'name', 'publish', file('club.json'))
    expect([early.code, early.err]).toEqual([1, expect.stringContaining('1 more of the controllers')])
    expect((await as(0, 'name', 'sign', file('club.json'))).err).toContain('has signed it already')
    const piped = await new CommandProcess(['--devnet-account', '1', '--rest', node.line.rest], {
      through: ['sh', '-c', `cat ${file('club.json')} | "$1" "$2" did name sign - "$3" "$4" "$5" "$6"`, 'sh'],
    }).finished
    expect(piped).toMatchObject({ code: 0, err: expect.stringContaining('to standard output') })
    const signed = await as(1, 'name', 'sign', file('club.json'))
    expect(JSON.parse(piped.out)).toMatchObject({ operation: 'create' })
    const added = [0, 1, 2].map((i) => ({ member: 'controller', id: did(i), after: did(i) }))
    expect(signed).toMatchObject({ code: 0 })
    const { changes } = JSON.parse(signed.out) as { changes: unknown[] }
    expect(changes).toEqual(expect.arrayContaining([...added, { member: 'multisig', after: '2:3' }]))
    expect((await as(2, 'name', 'sign', file('club.json'))).err).toContain('takes no more')
    expect(await as(2, 'name', 'publish', file('club.json'))).toMatchObject({ code: 0 })

    const service = ['--add-service', 'site,LinkedDomains,https://club.example']
    expect((await as(1, 'name', 'update', 'club', ...service, '-o', file('change.json'))).code).toBe(0)
    const ofNode = ['--rest', node.line.rest]
    const seen = await run('did', 'name', 'show', file('change.json'), ...ofNode)
    expect(seen.out).toMatch(
      /^The draft of the update of did:ledger:club, to be signed by 2 of did:ledger:i[^ ]+, did:ledger:i[^ ]+, did:ledger:i[^ ]+:\n {2}added {2}service {2}#site .*"https:\/\/club.example"/,
    )
    const late = await run('did', 'name', 'sign', file('change.json'), '--devnet-account', '2', ...ofNode)
    expect(late).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^The draft of .*\n {2}added .*\n\nWrote the update/),
    })
    expect(await as(0, 'name', 'publish', file('change.json'))).toMatchObject({ code: 0 })
    const stale = await as(0, 'name', 'sign', file('change.json'))
    expect([stale.code, stale.err]).toEqual([1, expect.stringContaining('begin again')])
    expect((await as(0, 'name', 'sign', file('club.json'))).err).toContain('exists on this chain already')

    // Account 1 has lost its key; the other two go on without it.
    expect((await as(0, 'name', 'ticket', 'club', '--to', did(0), '-o', file('ticket.json'))).code).toBe(0)
    const half = await as(0, 'name', 'transfer', file('ticket.json'))
    expect([half.code, half.err]).toEqual([1, expect.stringContaining('needs 2')])
    const ticket = await run('did', 'name', 'show', file('ticket.json'), ...ofNode)
    expect(ticket.out).toContain(`gives did:ledger:club to ${did(0)}`)
    expect((await as(2, 'name', 'sign', file('ticket.json'))).code).toBe(0)
    expect(JSON.parse(readFileSync(file('ticket.json'), 'utf8'))).toMatchObject({ id: 'did:ledger:club', to: did(0) })
    expect(await as(0, 'name', 'transfer', file('ticket.json'), '--controller', did(2))).toMatchObject({ code: 0 })

    const used = await as(0, 'name', 'sign', file('ticket.json'))
    expect([used.code, used.err]).toEqual([1, expect.stringContaining('make another ticket')])
    const shown = await run('did', 'resolve', 'did:ledger:club', '--rest', node.line.rest)
    expect(shown.out).toContain('"multisig": "1:2"')
    const proof = await run('did', 'prove', 'did:ledger:club', '--all', '--rest', node.line.rest)
    writeFileSync(file('bundle.json'), proof.out)
    const verified = await run('did', 'verify', file('bundle.json'), '--trust', 'devnet')
    expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('did:ledger:club')])
    const forged = proof.out.replaceAll('"ticket": "ey', '"ticket": "eY')
    writeFileSync(file('forged.json'), forged)
    expect((await run('did', 'verify', file('forged.json'), '--trust', 'devnet')).code).toBe(1)
    expect((await as(1, 'name', 'deactivate', 'club')).code).toBe(1)
    expect((await as(2, 'name', 'deactivate', 'club')).code).toBe(0)
    expect((await as(0, 'name', 'create', 'club')).err).toContain('deactivated')
  })

  it('has a name as long as ids leave room for, in commands, answers and proofs', async () => {
    const name = 'a-name.of_116'.padEnd(longestName, '-characters')
    const whole = `did:ledger:${name}`
    expect(await as(0, 'name', 'create', `${name}x`)).toMatchObject({
      code: 2,
      err: expect.stringContaining('1 to 116'),
    })
    expect(await as(0, 'name', 'create', name)).toMatchObject({ code: 0 })
    expect((await as(0, 'name', 'update', name, '--add-service', 'site,LinkedDomains,https://a.example')).code).toBe(0)
    const ofNode = ['--rest', node.line.rest]
    const shown = await run('did', 'resolve', whole, ...ofNode)
    expect(shown.out).toContain('https://a.example')
    writeFileSync(file('bundle.json'), (await run('did', 'prove', whole, '--all', ...ofNode)).out)
    const proved = await run('did', 'verify', file('bundle.json'), '--trust', 'devnet', '--json')
    expect([proved.code, proved.err, proved.out]).toEqual([0, '', expect.stringContaining(whole)])
  })

  it('waits for a controller whose own document has expired', async () => {
    expect((await as(3, 'create', '--expires', '2020-01-01', '--force')).code).toBe(0)
    const early = await as(3, 'name', 'create', 'late')
    expect([early.code, early.err]).toEqual([
      1,
      expect.stringMatching(/expired at 2020-01-01T00:00:00Z.*did update --expires/),
    ])
    expect((await as(3, 'update', '--expires', '2027-06-01')).code).toBe(0)
    expect((await as(3, 'name', 'create', 'late')).code).toBe(0)
  })

  it('issues, declares and revokes by the keys that may, and another account pays', async () => {
    expect((await as(0, 'name', 'create', 'guild')).code).toBe(0)
    const degree = [
      '--for',
      'did:ledger:guild',
      '--type',
      'DegreeCredential',
      '--claim',
      'degree=BSc',
      '--id',
      'degree',
    ]
    expect((await as(1, 'issue', ...degree)).err).toContain('its controllers list none')
    expect((await as(0, 'issue', ...degree, '-o', file('degree.json'))).code).toBe(0)
    const byName = ['--for', 'did:ledger:guild', '--sign-with', `${did(0)}#primary`]
    expect(await as(0, 'declare', file('degree.json'), ...byName)).toMatchObject({ code: 0 })
    const check = () => run('did', 'verify-credential', file('degree.json'), '--rest', node.line.rest)
    expect((await check()).code).toBe(0)

    const id = 'did:ledger:guild#degree'
    const byController = await as(0, 'revoke', id, '--for', 'did:ledger:guild')
    expect([byController.code, byController.err]).toEqual([
      1,
      expect.stringContaining('did name update NAME --add-key'),
    ])
    expect((await as(0, 'revoke', id)).err).toContain('neither holder nor issuer')
    expect(
      (await run('wallet', 'create', '--wallet', file('own.wallet'), '--password-file', file('password'))).code,
    ).toBe(0)
    const exported = ['wallet', 'export', '--wallet', file('own.wallet'), '--password-file', file('password')]
    expect((await run(...exported, '--public', '-o', file('own.pub'))).code).toBe(0)
    expect((await run(...exported, '-o', file('own.pem'))).code).toBe(0)
    const added = ['--add-key', `own,${file('own.pub')}`]
    // The document lists the key that signs its own update.
    const update = ['name', 'update', 'guild', ...added]
    expect((await as(0, ...update, '--sign-with', file('own.pem'), '-o', file('x.json'))).err).toContain(
      'writes a draft',
    )
    expect((await as(0, ...update, '-o', file('own.json'))).code).toBe(0)
    expect((await as(1, 'name', 'publish', file('own.json'))).code).toBe(1)
    const published = await as(1, 'name', 'publish', file('own.json'), '--sign-with', file('own.pem'))
    expect(published).toMatchObject({ code: 0 })
    const revoked = await as(1, 'revoke', id, '--for', 'did:ledger:guild', '--sign-with', file('own.pem'))
    expect(revoked).toMatchObject({ code: 0 })
    expect((await check()).code).toBe(1)
    expect((await as(1, 'deactivate', '--for', 'did:ledger:guild')).err).toContain('default key of a controller')
    expect((await as(0, 'deactivate', '--for', 'did:ledger:guild')).code).toBe(0)
  })

  it('says what is wrong with what cannot be', async () => {
    const cases: readonly [string[], number, string][] = [
      [['name', 'create', 'Club'], 2, 'Club cannot be a name: names have no capitals, as in club'],
      [['name', 'create', 'shop', '--controller', 'club'], 2, 'a name is written in full, as did:ledger:club'],
      [['name', 'create', 'shop', '--controller', 'did:ledger:Club'], 2, 'names have no capitals, as in club'],
      [['name', 'create', 'i'.repeat(34)], 2, 'cannot be a name'],
      [['name', 'create', 'shop', '--needed', '2'], 1, '2 of 1 controllers cannot sign'],
      [['name', 'create', 'shop', '--needed', '0'], 2, 'Not a number of controllers'],
      [['name', 'create', 'shop', '--controller', 'did:ledger:iX'], 2, 'Not a DID of this chain'],
      [['name', 'update', 'free', '--years', '1'], 1, 'registers a name'],
      [['name', 'sign', file('none.json')], 1, 'there is no such file'],
    ]
    for (const [args, code, text] of cases) {
      const ran = await as(0, ...args)
      expect([args, ran.code, ran.err]).toEqual([args, code, expect.stringContaining(text)])
    }
  })
})

describe('docs/names.md', () => {
  it('shows commands that do what it says', async () => {
    const cwd = directories.fresh('guide')
    mkdirSync(cwd)
    const devnet = await NodeProcess.start('devnet')
    const lines = commandsOf(repositoryFile('docs/names.md')).flatMap(({ command }) => command.split('\n'))
    expect(lines.length).toBeGreaterThan(15)
    for (const line of lines) {
      const args = line.replace('npx didledger ', '').split(' ')
      const ofNode = / wallet (?:create|export) /.test(line) ? [] : ['--rest', devnet.line.rest]
      const env = { DIDLEDGER_PASSWORD: 'correct horse' }
      const { code, err } = await new CommandProcess([...args, ...ofNode], { cwd, env }).finished
      expect({ line, code, err: besidesWaiting(err) }).toEqual({ line, code: 0, err: '' })
    }
    const club = await devnet.client.resolve('did:ledger:club')
    expect(club).toMatchObject({ status: 0, transaction: [{ operation: { header: { operation: 'transfer' } } }] })
    expect((await devnet.client.resolve('did:ledger:shop')).status).toBe(2)
    await devnet.stop()
  })
})
