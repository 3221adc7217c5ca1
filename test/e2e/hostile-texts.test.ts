import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandsOf, helpContext, nameOf } from '../../scripts/docs/cli-page.js'
import { createProgram } from '../../src/program/cli/cli-program.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { issueCredential } from '../support/builders/did.js'
import { quickSigner } from '../support/builders/signatures.js'
import { forbidden, hostile, HostileNode, hostilePayload, type Lie } from '../support/fakes/hostile-node.js'
import { LiveCommand, OwnSignals } from '../support/process/live-command.js'
import { CommandProcess, NodeProcess } from '../support/process/spawn.js'
import { oneIn } from '../support/process/thorough.js'
import { Workbench } from '../support/process/workbench.js'

/** Every command that asks a node, against a node whose every text is hostile: nothing of it reaches the terminal as it came. */
const [alice, bob, carol] = [devnetAccount(0), devnetAccount(1), devnetAccount(2)]
const credential = `${alice.did}#profile`
const another = `${alice.did}#degree`
const bench = new Workbench()
const dataDir = bench.path('data')
const token = bench.writeSecret('token', 'ab'.repeat(32))
const clients = bench.writeSecret(
  'clients.json',
  JSON.stringify({ clients: [{ name: 'app', token: 'token-of-the-client', budget: '1', perMinute: 1 }] }),
)
let node: NodeProcess
let liar: HostileNode

const asAlice = ['--devnet-account', '0']
const asBob = ['--devnet-account', '1']
const asCarol = ['--devnet-account', '2']
const payment = ['--to', bob.address, '--amount', '1']
const key = (n: number) => ['--key', Buffer.from(devnetAccount(n).publicKey).toString('hex')]
const file = (name: string) => bench.path(name)
/** Stands for the id of a payment of Alice that the liar says to wait. */
const waits = 'TXID'

interface Scene {
  readonly args: readonly (readonly string[])[]
  /** Asked of a command that serves. */
  readonly ask?: string
  /** Whether it shows no text of a node at all. */
  readonly showsNone?: true
  /** Whether a command that serves nobody has said enough to be stopped. */
  isDone?(command: Pick<LiveCommand, 'out' | 'err'>): boolean
}

/** Command lines of every command that asks a node. */
const scenes: Readonly<Record<string, Scene>> = {
  'node status': { args: [[]] },
  'node peers': { args: [[]] },
  'node bans': { args: [['--token-file', token]] },
  'node evidence': { args: [[]] },
  'node log': { args: [[]] },
  'node stop': { args: [['--token-file', token]] },
  'node call': { args: [['getblockbyheight', 'height=1']] },
  driver: { args: [['--port', '0', '--host', '127.0.0.1']], ask: `/1.0/identifiers/${alice.did}` },
  light: {
    args: [['--port', '0', '--host', '127.0.0.1', '--trust', 'devnet']],
    ask: `/1.0/identifiers/${alice.did}`,
  },
  witness: {
    args: [['--key', file('witness.key'), '--listen', '127.0.0.1:0', '--trust', 'devnet']],
    ask: '/witness/1/heads',
    showsNone: true,
  },
  watch: {
    args: [
      [alice.did, '--trust', 'devnet'],
      ['--query', '{service: {type: "Linked"}}', '--trust', 'devnet'],
    ],
    // Its WebSocket ends with words of the node.
    isDone: ({ err }) => err !== '',
  },
  registrar: {
    args: [['--port', '0', '--host', '127.0.0.1', ...asAlice, '--clients', clients]],
    ask: '/1.0/create',
  },
  'wallet balance': { args: [asAlice] },
  'wallet history': { args: [asAlice, [...asAlice, '--csv']] },
  'wallet merge': { args: [asAlice] },
  'wallet bump': { args: [[waits, ...asAlice]] },
  'wallet cancel': { args: [[waits, ...asAlice]] },
  'wallet build': { args: [[...asAlice, ...payment, '-o', file('build.json')]] },
  'wallet send': {
    args: [
      [...asAlice, ...payment],
      [...asAlice, ...payment, '--no-wait'],
    ],
  },
  'wallet multisig build': { args: [['--required', '1', ...key(0), ...key(1), ...payment, '-o', file('multi.json')]] },
  'did create': { args: [asCarol] },
  'did update': {
    args: [
      [...asAlice, '--add-service', 'x,Linked,https://example.org'],
      [...asAlice, '--rebase', file('rebase.json')],
    ],
  },
  'did deactivate': { args: [asAlice] },
  'did name create': {
    args: [
      ['free', ...asAlice],
      ['free', ...asAlice, '-o', file('free.json')],
    ],
  },
  'did name update': { args: [['shop', ...asAlice, '--years', '1']] },
  'did name ticket': { args: [['shop', ...asAlice, '--to', bob.did, '-o', file('given.json')]] },
  'did name transfer': { args: [[file('ticket.json'), ...asBob]] },
  'did name sign': {
    args: [
      [file('club.json'), ...asBob, '-o', file('signed.json')],
      [file('ticket.json'), ...asBob],
    ],
  },
  'did name show': { args: [[file('club.json')], [file('ticket.json')]] },
  'did name publish': { args: [[file('whole.json'), ...asAlice]] },
  'did name deactivate': { args: [['shop', ...asAlice]] },
  'did publish': { args: [[file('create.json'), ...asCarol]] },
  'did issue': { args: [[...asAlice, '--type', 'T', '--claim', 'a=b']] },
  'did present': { args: [[file('another.json'), ...asAlice, '--realm', 'r', '--nonce', 'n']] },
  'did configure-domain': { args: [['https://example.org', ...asAlice]] },
  'did verify-credential': { args: [[file('profile.json')], [file('another.json')]] },
  'did check-domain': { args: [['https://example.org', '--file', file('domain.json')]] },
  'did declare': { args: [[file('another.json'), ...asAlice]] },
  'did revoke': { args: [[credential, ...asAlice]] },
  'did credential': { args: [[credential]] },
  'did credentials': { args: [[alice.did]] },
  'did resolve': { args: [[alice.did], [alice.did, '--all'], [carol.did], [alice.did, '--version-height', '1']] },
  'did history': { args: [[alice.did], [alice.did, '--limit', '1']] },
  'did prove': { args: [[alice.did], [credential]] },
  'did query': {
    args: [
      ['--credential', 'ProfileCredential'],
      ['--condition', '{}'],
    ],
  },
  'chain checkpoint': { args: [[]] },
  'chain backup': { args: [[file('copy'), '--data-dir', dataDir]] },
}

const flags = ['--rest', '--rpc', '--ws', '--node']
/** A gateway shows answers of nodes to clients alone; a mirror follows nodes as peers do, and none of a devnet. */
const elsewhere = ['didledger gateway', 'didledger mirror']
const asking = commandsOf(await createProgram(helpContext))
  .filter((command) => !elsewhere.includes(nameOf(command)))
  .filter((command) => command.options.some(({ long }) => flags.includes(long ?? '')))
  .map((command) => ({
    name: nameOf(command).replace('didledger ', ''),
    flags: command.options.map(({ long }) => long ?? '').filter((long) => flags.includes(long)),
  }))

beforeAll(async () => {
  node = await NodeProcess.start('devnet', '--data-dir', dataDir)
  liar = await HostileNode.before(node.line.rest)
  await bench.json('witness', 'key', 'w.example/1', bench.path('witness.key'))
  bench.now = Math.floor(Date.now() / 1000)
  const issue = (id: string) => issueCredential(bob.did, quickSigner(bob.privateKey), alice.did, { id })
  bench.write('profile.json', issue(credential))
  bench.write('another.json', issue(another))
  const rest = ['--rest', node.line.rest]
  const sent = await bench.json<{ txid: string }>('wallet', 'send', ...asAlice, ...payment, ...rest)
  liar.waiting = sent.txid
  for (const account of ['0', '1']) await bench.json('did', 'create', '--devnet-account', account, ...rest)
  await bench.json('did', 'name', 'create', 'shop', ...asAlice, ...rest)
  const to = ['--to', bob.did, '-o', bench.path('ticket.json')]
  await bench.json('did', 'name', 'ticket', 'shop', ...asAlice, ...to, ...rest)
  const club = ['did', 'name', 'create', 'club', ...asAlice, ...rest]
  await bench.json(...club, '--controller', bob.did, '--needed', '2', '-o', bench.path('club.json'))
  await bench.json(...club, '-o', bench.path('whole.json'))
  await bench.json('did', 'declare', bench.path('profile.json'), ...asAlice, ...rest)
  await bench.json('did', 'create', ...asCarol, ...rest, '-o', bench.path('create.json'))
  await bench.json(
    'did',
    'configure-domain',
    'https://example.org',
    ...asAlice,
    ...rest,
    '-o',
    bench.path('domain.json'),
  )
  const update = ['did', 'update', ...asAlice, ...rest, '--add-service', 'site,Linked,https://example.org']
  await bench.json(...update, '-o', bench.path('rebase.json'))
  await bench.json(...update)
})
afterAll(async () => {
  await liar.close()
  await node.stop()
  bench.close()
})

/** The options that name the node. */
function at(names: readonly string[]): string[] {
  const url = liar.url
  return names.flatMap((name) => [
    name,
    name === '--rpc' ? `${url}/rpc` : name === '--ws' ? url.replace('http', 'ws') : url,
  ])
}

/** Runs a command line to its end; a command that serves is asked first, and then stopped. */
async function outputOf(args: readonly string[], { ask, isDone }: Omit<Scene, 'args'>) {
  if (ask === undefined && isDone === undefined) {
    const signals = new OwnSignals()
    return bench.run(...args).finally(() => signals.forget())
  }
  const command = new LiveCommand(args, {})
  let ended = false
  void command.code.then(() => (ended = true))
  for (;;) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+(?=["/]|$)/m.exec(command.out) ?? []
    if (ask !== undefined && url !== undefined) await (await fetch(`${url}${ask}`)).text()
    if ((ask !== undefined && url !== undefined) || isDone?.(command) === true || ended) break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  command.stop()
  return { code: await command.code, out: command.out, err: command.err }
}

/** Runs a command line under a lie; no text of it may reach the terminal. What it printed. */
async function harmless(args: readonly string[], lie: Lie, serving: Omit<Scene, 'args'>, where = ''): Promise<string> {
  liar.begin(lie)
  const { code, out, err } = await outputOf(args, serving)
  const said = `${args.join(' ')} under ${JSON.stringify(lie)} ${where}`
  expect(out + err, said).not.toMatch(forbidden)
  expect(out + err, said).not.toMatch(/^FORGED/m)
  if (args.includes('--json')) {
    if (code === 0 && out !== '') for (const text of valuesIn(out)) JSON.parse(text)
    if (code === 1 && out === '') JSON.parse(err)
  }
  return out + err
}

/** Of more than thirty, ten to twenty, others from run to run; all of them in a thorough run. */
function some<T>(items: readonly T[]): T[] {
  // Some commands show one text of twenty: sampled, they would seem to show none.
  const every = items.length <= 30 ? 1 : oneIn(Math.floor(items.length / 10))
  return items.filter((_, i) => (i + bench.now) % every === 0)
}

/** One value in many lines, or one a line. */
function valuesIn(out: string): string[] {
  return /^[{[]$/m.test(out) ? [out] : out.trimEnd().split('\n')
}

it('every command that can name a node is tried', () => {
  expect(Object.keys(scenes).sort()).toEqual(asking.map(({ name }) => name).sort())
})

describe.each(asking)('$name', ({ name, flags: named }) => {
  const { args = [], showsNone = false, ...serving } = scenes[name] ?? {}
  const lines = args.flatMap((words) => [words, [...words, '--json']])

  it('prints no hostile text as it came', { timeout: 300_000 }, async () => {
    let shown = 0
    for (const words of lines) {
      const line = [...name.split(' '), ...words.map((word) => (word === waits ? liar.waiting : word)), ...at(named)]
      const run = async (lie: Lie, where?: string) => {
        if ((await harmless(line, lie, serving, where)).includes('\\u009b')) shown++
      }
      await run({})
      const [strings, requests] = [[...liar.strings], liar.requests]
      await run({ twist: (text) => text + hostile })
      await run({ twist: (text) => hostile + text, members: true })
      await run({ members: true })
      await run({ twist: (text, where) => (where.endsWith('.payload') ? hostilePayload(text) : text) })
      // One string at a time: the answer is believed as far as that one. JSON differs from text by its form alone.
      if (words.includes('--json')) continue
      for (const one of some(strings)) {
        await run({ twist: (text, where) => (where === one ? text + hostile : text) }, one)
      }
      for (const i of some(Array.from({ length: requests }, (_, number) => number))) {
        await run({ refuses: i })
        await run({ babbles: i })
      }
    }
    expect(shown > 0, 'hostile texts shown, written out').toBe(!showsNone)
  })
})

it('a document with hostile texts is shown with each of them written out', async () => {
  liar.begin({ twist: (text, where) => (where.endsWith('.payload') ? hostilePayload(text) : text) })
  const { code, out } = await bench.run('did', 'resolve', alice.did, '--rest', liar.url)
  expect(code).toBe(0)
  for (const part of ['\\u001b]0;owned\\u0007', '\\u0080\\u0085\\u009b31m', '\\u202e', '\\udb40\\udc7f'])
    expect(out).toContain(part)
})

/** A command into which a module is loaded that does something hostile, once the program has begun. */
function withModule(deed: string, ...args: string[]) {
  const begun = "process.listenerCount('uncaughtException') > 0"
  const text = `const timer = setInterval(() => { if (${begun}) { clearInterval(timer); ${deed} } }, 20)`
  const module = bench.write('module.mjs', text)
  return new CommandProcess(args, { env: { NODE_OPTIONS: `--import ${pathToFileURL(module).href}` } }).finished
}

it.each([[[]], [['--json']]])('a failure that no code waits for is told the same way: %j', async (flags) => {
  const text = `throw new Error(${JSON.stringify(hostile)})`
  const { code, err } = await withModule(text, 'driver', '--port', '0', '--host', '127.0.0.1', ...flags)
  expect(code).toBe(1)
  expect(err).toContain('\\u009b')
  expect(err).not.toMatch(forbidden)
  expect(err).not.toMatch(/^FORGED/m)
  if (flags.length > 0) expect(JSON.parse(err)).toEqual({ error: { message: hostile } })
})

it('warnings of Node are one harmless line', async () => {
  const warn = `process.emitWarning(${JSON.stringify(hostile)})`
  const text = `setImmediate(() => { ${warn}; setTimeout(() => process.exit(0), 100) })`
  const { err } = await withModule(text, 'driver', '--port', '0', '--host', '127.0.0.1')
  expect(err).toContain('Warning: \\u001b')
  expect(err).not.toMatch(forbidden)
  expect(err).not.toMatch(/^FORGED/m)
})

it('JSON holds the texts themselves', async () => {
  liar.begin({ twist: (text, where) => (where.endsWith('.reason') ? hostile : text) })
  const list = await bench.json<{ reason: string }[]>('node', 'bans', '--rest', liar.url, '--token-file', token)
  expect(list[0]?.reason).toBe(hostile)
})
