import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandsOf, helpContext, nameOf } from '../../../scripts/docs/cli-page.js'
import { createProgram } from '../../../src/program/cli/cli-program.js'
import { createNode, type LedgerNode } from '../../../src/index.js'
import { devnetAccount } from '../../../src/clients/wallet/devnet-accounts.js'
import { issueCredential } from '../../support/builders/did.js'
import { quickSigner } from '../../support/builders/signatures.js'
import { forbidden, hostile, hostilePayload, twisted } from '../../support/fakes/hostile-node.js'
import { Workbench } from '../../support/process/workbench.js'

/** Files of strangers, their names, and words on a command line: no command lets any of them steer the terminal. */
const bench = new Workbench()
const [alice, bob] = [devnetAccount(0), devnetAccount(1)]
/** What a file system takes in a name: neither NUL, nor halves of pairs. */
const hostileName = hostile.replace(/[\0\ud800]/g, '')
const own = ['--devnet-account', '0']
const nowhere = 'http://127.0.0.1:9'
let node: LedgerNode
let rest: string[]

const file = (name: string) => bench.path(name)
const read = (name: string) => readFileSync(file(name), 'utf8')

/** Command lines that read a file, with the honest file that each begins from. */
const scenes: readonly [name: string, honest: string, (path: string) => readonly string[]][] = [
  ['did verify', 'bundle', (path) => [path, '--trust', 'devnet']],
  ['did verify', 'trust', (path) => [file('bundle'), '--trust', path]],
  ['did verify', 'checkpoint', (path) => [file('bundle'), '--trust', 'devnet', '--checkpoint', path]],
  ['did publish', 'create', (path) => [path, ...own, '--rest', nowhere]],
  ['did declare', 'credential', (path) => [path, ...own, '--rest', nowhere]],
  ['did verify-credential', 'credential', (path) => [path, ...rest]],
  ['did verify-credential', 'jwt', (path) => [path, ...rest]],
  ['did verify-credential', 'presentation', (path) => [path, '--realm', 'r', '--nonce', 'n', ...rest]],
  ['did present', 'credential', (path) => [path, ...own, '--realm', 'r', '--nonce', 'n', ...rest]],
  ['did issue', 'claims', (path) => [...own, '--type', 'T', '--claims', path, ...rest]],
  ['did check-domain', 'domain', (path) => ['https://example.org', '--file', path, ...rest]],
  ['signer', 'spec', (path) => ['--genesis', path, '--validator-key', file('no-key'), '--data-dir', file('no-signer')]],
  ['wallet show', 'payment', (path) => [path]],
  ['wallet sign', 'payment', (path) => [path, ...own, '-o', file('signed')]],
  ['wallet send', 'payment', (path) => [path, '--rest', nowhere]],
  ['wallet multisig combine', 'payment', (path) => [path, path]],
  [
    'wallet build',
    'coins',
    (path) => ['--coins', path, '--to', bob.address, '--amount', '1', ...own, '-o', file('built')],
  ],
  ['wallet import', 'words', (path) => [path, '--wallet', file('imported')]],
  ['wallet address', 'keystore', (path) => ['--wallet', path]],
  ['genesis show', 'spec', (path) => [path]],
  ['genesis trust', 'spec', (path) => [path]],
  ['chain info', 'spec', (path) => ['--genesis', path, '--data-dir', file('none')]],
  ['chain import', 'words', (path) => [path, '--data-dir', file('none')]],
  ['start', 'config', (path) => ['--config', path, '--print-config']],
  ['devnet', 'config', (path) => ['--config', path, '--print-config']],
  ['node bans', 'words', (path) => ['--token-file', path, '--rest', nowhere]],
]

beforeAll(async () => {
  node = await createNode({ network: 'devnet', api: { portBase: 0, hosts: ['127.0.0.1'] } })
  await node.chain.waitFor((await node.wallet.createDid({ account: alice })).txid)
  rest = ['--rest', node.api?.rest ?? '']
  bench.now = Math.floor(Date.now() / 1000)
  const printed = async (name: string, ...args: string[]) => bench.write(name, (await bench.run(...args)).out)
  await printed('bundle', 'did', 'prove', alice.did, '--rest', node.api?.rest ?? '')
  await printed('trust', 'genesis', 'trust', 'devnet')
  await printed('checkpoint', 'chain', 'checkpoint', ...rest)
  await bench.json('did', 'create', '--devnet-account', '2', ...rest, '-o', file('create'))
  const id = `${alice.did}#profile`
  bench.write('credential', issueCredential(bob.did, quickSigner(bob.privateKey), alice.did, { id }))
  const issue = ['did', 'issue', ...own, ...rest, '--type', 'T', '--claim', 'a=b', '--id', 'x']
  await printed('jwt', ...issue, '--format', 'jwt')
  await printed('own', ...issue)
  await printed('presentation', 'did', 'present', file('own'), ...own, ...rest, '--realm', 'r', '--nonce', 'n')
  await printed('domain', 'did', 'configure-domain', 'https://example.org', ...own, ...rest)
  bench.write('claims', JSON.stringify({ degree: 'BSc', place: { city: 'Bern' } }))
  const payment = ['--to', bob.address, '--amount', '1']
  await bench.json('wallet', 'build', ...own, ...payment, ...rest, '-o', file('payment'))
  const coins = (await (await fetch(`${rest[1]}/api/v1/asset/utxos/${alice.address}`)).json()) as { Result: unknown }
  bench.write('coins', JSON.stringify(coins.Result))
  bench.write('words', 'once upon a time')
  bench.write('spec', JSON.stringify(JSON.parse(readFileSync(bench.spec, 'utf8'))))
  bench.write('config', JSON.stringify({ node: { log: 'all' }, api: { hostNames: ['example.org'] } }))
  await bench.json('wallet', 'create', '--wallet', file('keystore'))
})
afterAll(async () => {
  await node.close()
  bench.close()
})

/** Runs a command line, of which nothing hostile may reach the terminal as it came. */
async function harmless(args: readonly string[], what: string): Promise<string> {
  for (const made of ['built', 'signed']) rmSync(file(made), { force: true })
  const { out, err } = await bench.run(...args)
  expect(out + err, `${JSON.stringify(args)} with ${what}`).not.toMatch(forbidden)
  expect(out + err, `${JSON.stringify(args)} with ${what}`).not.toMatch(/^FORGED/m)
  return out + err
}

/** A file with hostile texts: in all strings, in each one, in names of members, in a payload, and in no form at all. */
function variants(honest: string): [what: string, text: string][] {
  const broken: [string, string][] = [
    ['no JSON', hostile],
    ['JSON that breaks off', `{"a": "${hostile}`],
    ['another format', JSON.stringify({ format: hostile })],
  ]
  let value: unknown
  try {
    value = JSON.parse(honest)
  } catch {
    return broken
  }
  const places = new Set<string>()
  twisted(value, (text, where) => {
    places.add(where)
    return text
  })
  const changed = (twist: Parameters<typeof twisted>[1], members = false) =>
    JSON.stringify(twisted(value, twist, members))
  return [
    ...broken,
    ['all strings', changed((text) => text + hostile)],
    ['members', changed((text) => text, true)],
    ['a payload', changed((text, where) => (/\.payload$/.test(where) ? hostilePayload(text) : text))],
    ...[...places].map((one): [string, string] => [
      one,
      changed((text, where) => (where === one ? text + hostile : text)),
    ]),
  ]
}

describe('a hostile file', () => {
  it.each(scenes)('of %s: %s', { timeout: 120_000 }, async (name, honest, args) => {
    const path = file('changed')
    const words = name.split(' ')
    for (const [what, text] of variants(read(honest))) {
      writeFileSync(path, text)
      await harmless([...words, ...args(path)], what)
      if (what === 'all strings' || what === 'no JSON') await harmless([...words, ...args(path), '--json'], what)
    }
    const named = file(`${honest}${hostileName}`)
    for (const text of [read(honest), hostile]) {
      writeFileSync(named, text)
      await harmless([...words, ...args(named)], 'a hostile name')
    }
    expect(await harmless([...words, ...args(file(`none${hostileName}`))], 'a hostile name of nothing')).toContain(
      '\\u009b',
    )
  })
})

const commands = commandsOf(await createProgram(helpContext)).map((command) => ({
  name: nameOf(command).replace('didledger ', ''),
  command,
}))

describe('hostile words', () => {
  /** What keeps a command from serving, and from writing elsewhere. */
  const ends: Readonly<Record<string, readonly string[]>> = {
    devnet: ['--print-config'],
    start: ['--print-config'],
    driver: ['--port', 'none'],
    light: ['--port', 'none'],
    'serve-static': ['--port', 'none'],
    signer: ['--genesis', 'localnet', '--validator-key', file('no-key'), '--data-dir', file('no-signer')],
    'wallet create': ['--password-file', file('no-password')],
    'wallet import': ['--password-file', file('no-password')],
  }

  it.each(commands)('of $name', { timeout: 120_000 }, async ({ name, command }) => {
    const words = name.split(' ')
    const operands = command.registeredArguments.map(() => file('operand'))
    const has = (flag: string) => command.options.some(({ long }) => long === flag)
    const quiet = ['--rest', '--rpc'].filter(has).flatMap((flag) => [flag, nowhere])
    let shown = 0
    const run = async (...args: string[]) => {
      if ((await harmless([...words, ...args, ...(ends[name] ?? [])], 'words')).includes('\\u009b')) shown++
    }
    await run(...quiet, `--${hostileName}`)
    await run(...quiet, ...operands, hostileName, hostileName)
    if (operands.length > 0) await run(...quiet, ...operands.map(() => file(hostileName)))
    for (const { long, flags, required, optional } of command.options) {
      if (long === undefined || (!required && !optional)) continue
      const value = /file|directory/.test(flags) ? file(hostileName) : hostileName
      await run(...quiet, ...operands, long, value)
      await run(...quiet, ...operands, long, value, '--json')
    }
    expect(shown, 'hostile words shown, written out').toBeGreaterThan(0)
  })

  it('of a command that is none', async () => {
    for (const words of [
      [hostileName],
      ['help', hostileName],
      ['wallet', hostileName],
      ['wallet', 'help', hostileName],
    ])
      expect(await harmless(words, 'words')).toContain('\\u009b')
  })
})
