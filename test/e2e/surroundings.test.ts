import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CommandProcess, NodeProcess } from '../support/process/spawn.js'

/** What services, containers and shells put around a command. */

/** Runs the program with a redirection of the shell. */
const redirected = (redirection: string) => ['sh', '-c', `exec "$@" ${redirection}`, 'sh']

it('a file that a command reads may be standard input', async () => {
  const through = ['sh', '-c', 'echo "{}" | exec "$@"', 'sh']
  const { code, err } = await new CommandProcess(['wallet', 'show', '-'], { through }).finished
  expect([code, err]).toEqual([1, expect.stringContaining('not a transaction file: it needs')])
})

it.each([
  ['a spec', 'cat genesis/pow.json', ['genesis', 'show', '-'], /^pow\n/],
  [
    'a key',
    'echo 024059d6999859dd0aa1ee217b0dc00cfb496ca6d225ec701736f3dabb0f5212b9',
    ['wallet', 'multisig', 'address', '--required', '1', '--key', '-'],
    /signatures {2}1 of 1/,
  ],
])('%s is read from standard input as other files are', async (_, source, args, shown) => {
  const through = ['sh', '-c', `${source} | "$@"`, 'sh']
  const { code, out } = await new CommandProcess(args, { through }).finished
  expect([code, out]).toEqual([0, expect.stringMatching(shown)])
})

it('a file that several parts of a command ask for may be a pipe', async () => {
  // The devnet of the Trust is not there: it is asked for once the Trust was read.
  const through = ['bash', '-c', '"$@" --trust <(cat genesis/devnet.trust.json)', 'bash']
  const command = new CommandProcess(['light', '--port', '0', '--rest', 'http://127.0.0.1:2', '--json'], { through })
  expect(JSON.parse((await command.firstLine()) ?? 'null')).toMatchObject({ nodes: ['http://127.0.0.1:2'] })
  command.kill('SIGTERM')
  await command.finished
})

describe.runIf(existsSync('/dev/full'))('output that cannot be written', () => {
  it.each([
    ['a command', ['genesis', 'show', 'pow']],
    ['a node', ['devnet', '--port-base', '0']],
  ])('ends %s with one line that says why', async (_, args) => {
    const command = new CommandProcess(args, { through: redirected('>/dev/full') })
    const { code, err } = await command.finished
    expect([code, err.split('\n').filter((line) => !/ node  didledger .* serves devnet/.test(line))]).toEqual([
      1,
      ['error: standard output cannot be written: no space is left on the disk', ''],
    ])
  })

  it('is told as JSON where that is asked for', async () => {
    const command = new CommandProcess(['genesis', 'show', 'pow', '--json'], { through: redirected('>/dev/full') })
    const { code, err } = await command.finished
    const message = 'standard output cannot be written: no space is left on the disk'
    expect([code, JSON.parse(err)]).toEqual([1, { error: { message } }])
  })

  const cannotShow = [
    ['a full device', redirected('>/dev/full'), 'no space is left on the disk'],
    [
      'a pipe without a reader',
      ['bash', '-c', 'exec {full}> >(exec true); wait $!; "$@" >&$full', 'bash'],
      'nothing reads it any more',
    ],
  ] as const
  it.each(cannotShow)('leaves no keystore whose words were not shown: %s', async (_, through, why) => {
    const folder = mkdtempSync(join(tmpdir(), 'didledger-unseen-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const wallet = join(folder, 'wallet.json')
    for (const json of [[], ['--json']]) {
      const env = { DIDLEDGER_PASSWORD: 'correct horse' }
      const { code, err } = await new CommandProcess(['wallet', 'create', '--wallet', wallet, ...json], {
        through,
        env,
      }).finished
      const said = json.length === 0 ? err : JSON.parse(err).error.message
      const removed = `${wallet} was removed again, since its words could not be shown`
      expect([code, said]).toEqual([
        1,
        expect.stringContaining(`standard output cannot be written: ${why}; ${removed}`),
      ])
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('on standard error stops nobody', async () => {
    const node = await NodeProcess.startWith({ through: redirected('2>/dev/full') }, 'devnet')
    onTestFinished(async () => void (await node.stop()))
    expect((await node.client.chain())?.name).toBe('devnet')
    const wrong = await new CommandProcess(['wallet', 'balance'], { through: redirected('2>/dev/full') }).finished
    expect(wrong).toMatchObject({ code: 1, out: '' })
  })
})

it('empty variables are not set: data lies below the home directory of the user, wherever a command is started', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'didledger-empty-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const names = [
    'HOME',
    'USERPROFILE',
    'XDG_DATA_HOME',
    'LOCALAPPDATA',
    'DIDLEDGER_CONFIG',
    'DIDLEDGER_PASSWORD',
    'DEBUG',
  ]
  const env = Object.fromEntries(names.map((name) => [name, '']))
  const { code, err } = await new CommandProcess(['chain', 'verify', '--genesis', 'pow'], { cwd, env }).finished
  const [, named = ''] = /^error: (.*) holds no chain\n$/.exec(err) ?? []
  expect([code, isAbsolute(named), named.startsWith(userInfo().homedir)], err).toEqual([1, true, true])
  expect(readdirSync(cwd)).toEqual([])
})

it('an argument of a terminal in Latin-1 is refused, and signed nowhere', async () => {
  const through = ['sh', '-c', 'exec "$@" "$(printf "city=K\\303\\266ln, K\\366ln")"', 'sh']
  const { code, out, err } = await new CommandProcess(['did', 'issue', '--type', 'T', '--claim'], { through }).finished
  const said =
    'argument 6 (city=Köln, K\ufffdln) has U+FFFD, which stands for bytes that are no UTF-8; use a terminal that writes UTF-8'
  expect([code, out, err]).toEqual([2, '', `error: ${said}\n`])
})

it('a Node that makes no code of text runs a node, which answers and refuses as it should', async () => {
  const env = { NODE_OPTIONS: '--disallow-code-generation-from-strings' }
  const node = await NodeProcess.startWith({ env }, 'devnet')
  onTestFinished(async () => void (await node.stop()))
  expect(await node.client.rpc('getblockhash', { height: 0 })).toMatch(/^[0-9a-f]{64}$/)
  await expect(node.client.rpc('getblockhash', { height: -1 })).rejects.toThrow(
    'expected integer to be greater or equal to 0',
  )
  expect((await node.get('block/height')).body).toMatchObject({ Result: 0 })
  const create = ['did', 'create', '--devnet-account', '0', '--rest', node.line.rest]
  expect(await new CommandProcess(create, { env }).finished).toMatchObject({ code: 0, err: '' })
})

it('a Node that is too old is named by every command but the version, which tells it too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'didledger-old-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const old = join(folder, 'old.cjs')
  writeFileSync(old, "Object.defineProperty(process, 'version', { value: 'v18.20.8' })")
  const run = (...args: string[]) => new CommandProcess(args, { env: { NODE_OPTIONS: `--require ${old}` } }).finished
  const { code, out, err } = await run('genesis', 'show', 'pow')
  const said = /^didledger needs Node 20\.19 or later, and this is v18\.20\.8: /
  expect([code, out, err.replace('error: ', '')]).toEqual([1, '', expect.stringMatching(said)])
  const json = JSON.parse((await run('genesis', 'show', 'pow', '--json')).err) as unknown
  expect(json).toEqual({ error: { message: expect.stringMatching(said) } })
  expect(await run('--version')).toMatchObject({ code: 0, out: expect.stringContaining('v18.20.8'), err: '' })
})

it('a system for which LevelDB has no binary is told what to do', async () => {
  const env = { NODE_OPTIONS: '--no-addons' }
  const { code, err } = await new CommandProcess(['devnet', '--port-base', '0'], { env }).finished
  const said =
    /^error: LevelDB, which is no JavaScript, cannot be loaded on \w+ \w+ \(.*\); install the program anew on this machine/
  expect([code, err]).toEqual([1, expect.stringMatching(said)])
})
