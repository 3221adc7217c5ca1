import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestNetwork, until } from '../support/network/test-network.js'
import { CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

/** A witness without a node, a node that is one, a node that collects from both, and a light resolver that needs both, as processes. */

const directories = new Directories()
const did = 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'
const place = directories.fresh('witness')
const file = (name: string) => join(place, '..', `witness-${name}`)
const commands: CommandProcess[] = []
let node: NodeProcess

/** Starts a command that serves, and returns what it says with --json. */
async function started<T = { listens: string[]; verifierKey: string }>(...args: string[]): Promise<T> {
  const command = new CommandProcess([...args, '--json'])
  commands.push(command)
  const line = await command.firstLine()
  expect(line, command.err).toBeDefined()
  return JSON.parse(line as string) as T
}

const stop = async (command: CommandProcess | undefined) => {
  command?.kill('SIGTERM')
  return command?.finished
}

beforeAll(async () => {
  node = await NodeProcess.start('devnet', '--data-dir', directories.fresh('node'))
  await runJson('did', 'create', '--devnet-account', '0', '--rest', node.line.rest)
})
afterAll(async () => {
  for (const command of commands) command.kill('SIGKILL')
  await node.stop('SIGKILL')
  directories.remove()
})

describe('the key of a witness', () => {
  it('is made once, with its state, in files that no other user reads; the public key is printed', async () => {
    const made = await runJson<{ verifierKey: string }>('witness', 'key', 'w.example/1', file('1'))
    expect(made.verifierKey).toMatch(/^w\.example\/1\+[0-9a-f]{8}\+B/)
    expect(readFileSync(file('1'), 'utf8')).toMatch(/^PRIVATE\+KEY\+w\.example\/1\+/)
    const again = await run('witness', 'key', 'w.example/1', file('1'))
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('exists already')])
    const named = await run('witness', 'key', 'no name', file('x'))
    expect([named.code, named.err]).toEqual([2, expect.stringContaining('the name of the witness')])
  })

  it('is refused where others may read it, where it is none, and where its state is missing', async () => {
    const serve = (key: string) =>
      run('witness', '--key', key, '--node', node.line.rest, '--trust', 'devnet', '--listen', ':0')
    await runJson('witness', 'key', 'w.example/bad', file('bad'))
    chmodSync(file('bad'), 0o644)
    expect((await serve(file('bad'))).err).toContain('witness key')
    chmodSync(file('bad'), 0o600)
    rmSync(`${file('bad')}.state`)
    expect((await serve(file('bad'))).err).toContain('the state of the witness key is missing')
    writeFileSync(file('none'), 'secret-text', { mode: 0o600 })
    const { code, err } = await serve(file('none'))
    expect([code, err]).toEqual([1, expect.stringContaining('is no private key of a witness')])
    expect(err).not.toContain('secret-text')
    expect((await run('witness', '--key', file('1'))).err).toContain('--key, --node and --trust are needed')
  })
})

describe('a witness as a command', () => {
  it('signs heads for nodes that collect and resolvers that need it, keeps others from its key, and continues after a stop', async () => {
    const key = ['--key', file('1'), '--node', node.line.rest, '--trust', 'devnet']
    const witness = await started('witness', ...key, '--listen', '127.0.0.1:0')
    const [url] = witness.listens as [string]
    const second = await run('witness', ...key, '--listen', ':0')
    expect([second.code, second.err]).toEqual([1, expect.stringMatching(/lock/)])
    const shown = (await (await fetch(`${url}/witness/1/heads`)).json()) as { heads: { note: string }[] }
    expect(shown.heads[0]?.note).toMatch(
      /^didledger\/[0-9a-f]{16}\n\d+\n[^\n]{44}\n[^\n]{44}\n\n\u2014 w\.example\/1 [^\n]+\n$/,
    )
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    // Neither needs the node to collect: a resolver that knows the place of the witness asks it.
    const light = await started<{ listens: string[] }>(
      ...['light', '--rest', node.line.rest, '--trust', 'devnet', '--port', '0'],
      ...['--witness', `${witness.verifierKey},${url}`],
    )
    const answer = await fetch(`${light.listens[0]}/1.0/identifiers/${did}`)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(did)])
    const strangers = await started<{ listens: string[] }>(
      ...['light', '--rest', node.line.rest, '--trust', 'devnet', '--port', '0'],
      ...['--witness', witness.verifierKey],
    )
    const refused = await fetch(`${strangers.listens[0]}/1.0/identifiers/${did}`)
    expect([refused.status, await refused.text()]).toEqual([500, expect.stringContaining('unwitnessed')])
    await stop(commands[0])
    await runJson('did', 'create', '--devnet-account', '1', '--rest', node.line.rest)
    const later = await started('witness', ...key, '--listen', '127.0.0.1:0')
    const heads = (await (await fetch(`${later.listens[0]}/witness/1/heads`)).json()) as { heads: unknown[] }
    expect(heads.heads).toHaveLength(2)
  })

  it('refuses an address that was mistyped, and waits for a node that is down', async () => {
    await runJson('witness', 'key', 'w.example/down', file('down'))
    const asking = (url: string) => ['--key', file('down'), '--node', url, '--trust', 'devnet', '--listen', ':0']
    for (const [url, message] of [
      ['http://a..b', '--node http://a..b: there is no host of the name a..b'],
      ['http//127.0.0.1', 'not a URL of the form http://host:port: http//127.0.0.1'],
    ] as const) {
      const { code, err } = await run('witness', ...asking(url))
      expect([code, err]).toEqual([2, expect.stringContaining(message)])
    }
    await started('witness', ...asking('http://127.0.0.1:47'))
    const waiting = commands.at(-1)
    expect(waiting?.err).toContain('no head of this node is signed: http://127.0.0.1:47: connect ECONNREFUSED')
    expect((await stop(waiting))?.code).toBe(0)
  })
})

describe('nodes of a network', () => {
  it('cosign what they checked, collect it, and put it into proofs for those who need it', async () => {
    const network = await TestNetwork.open(directories, 3)
    try {
      const { verifierKey } = await runJson<{ verifierKey: string }>('witness', 'key', 'full.example/1', file('full'))
      const full = await network.join('full', { args: ['--witness-key', file('full')] })
      const { rest } = full.node.line
      const collector = await network.join('collector', { args: ['--witness', `${verifierKey},${rest}`] })
      await network.reach((await full.height()) + 1)
      const witnessed = async () => {
        const answer = await fetch(`${collector.node.line.rest}/light/1/witnessed`)
        return ((await answer.json()) as { heads: { height: number }[] }).heads[0]?.height ?? 0
      }
      await until('a cosigned block', 60, async () => (await witnessed()) > 0 || 'none yet')
      const trust = await run('genesis', 'trust', network.genesis)
      writeFileSync(file('trust.json'), trust.out)
      const light = await started<{ listens: string[] }>(
        ...['light', '--rest', collector.node.line.rest, '--trust', file('trust.json'), '--port', '0'],
        ...['--witness', verifierKey, '--gossip', '--allow-old-root'],
      )
      const answer = await fetch(`${light.listens[0]}/1.0/identifiers/${did}`)
      expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('NOT_FOUND')])
      // After a stop the last head is shown again, and the key goes on from there.
      const before = await witnessed()
      await full.stop()
      await network.start(full)
      const answered = await fetch(`${full.node.line.rest}/witness/1/heads`)
      const { heads, alarm } = (await answered.json()) as { heads: { note: string }[]; alarm?: string }
      expect(alarm).toBeUndefined()
      expect(Number(heads[0]?.note.split('\n')[1])).toBeGreaterThanOrEqual(before)
    } finally {
      await network.close()
    }
  })
})

describe('evidence in a file', () => {
  it('is refused where it is none', async () => {
    const bundle = await run('did', 'prove', did, '--rest', node.line.rest)
    writeFileSync(file('bundle.json'), bundle.out)
    writeFileSync(file('empty.json'), '')
    for (const [name, text] of [
      [
        'bundle.json',
        'is no evidence of a fork: a light resolver, a witness or a node makes one; this is what didledger did prove prints',
      ],
      ['empty.json', 'it is empty'],
      ['nowhere.json', 'cannot read the evidence of a fork'],
    ] as const) {
      const { code, err } = await run('light', 'check-evidence', file(name), '--trust', 'devnet')
      expect([name, code, err]).toEqual([name, 1, expect.stringContaining(text)])
    }
  })
})
