import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aloneOnLocalnet } from '../support/network/shipped-chain.js'
import { Checkout, innermost, withoutNpx } from '../support/process/checkout.js'
import { commandsOf, fencedBlocks, repositoryFile, section, sessionOf } from '../support/assert/markdown.js'
import { Deadline } from '../support/process/patience.js'

/** The pages are run as a reader would run them, and what they show is compared with what comes out. */

const readme = repositoryFile('README.md')
const tour = repositoryFile('docs/tour.md')
const [begin, ...tourCommands] = commandsOf(section(tour, 'A devnet'))
const [install, testing] = commandsOf(section(readme, 'Start'))
const lies = commandsOf(section(repositoryFile('docs/trust.md'), 'Try to lie to it'))
const session = sessionOf(section(readme, 'Tour'))

/** What differs from run to run, by its form. */
function masked(text: string): string {
  return text
    .replace(/\b[0-9a-f]{64}\b/g, '<hash>')
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<date>')
    .replace(/("result":|"(?:time|blocktime|mediantime)":)\d{10}\b/g, '$1<time>')
    .replace(/("(?:signature|signatureValue|payload)": ?)"[\w-]{80,}"/g, '$1"<text>"')
    .replace(/("data": ?)"[0-9a-f]+"/g, '$1"<nonce>"')
}

/** Whether the lines stand in the text one below the other; `…` stands for any lines. */
function expectExcerpt(text: string, excerpt: string): void {
  const lines = masked(text).split('\n')
  let at = -1
  let anywhere = true
  for (const line of masked(excerpt).split('\n')) {
    if (line === '…') {
      anywhere = true
      continue
    }
    const found = anywhere ? lines.indexOf(line, at + 1) : at + 1
    expect(lines[found]).toBe(line)
    at = found
    anywhere = false
  }
}

/** Fails with a plain sentence where something else listens on the default ports. */
async function requireFree(port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const server = createServer()
    server.once('error', (error) =>
      reject(
        new Error(
          `port ${port} is not free (${error.message}): stop the devnet, or what else listens there, and try again`,
        ),
      ),
    )
    server.listen(port, '127.0.0.1', () => server.close(() => resolve()))
  })
}

describe('the commands of README.md', () => {
  it('are the ones that the package and its checks have', () => {
    const { scripts } = JSON.parse(repositoryFile('package.json')) as { scripts: Record<string, string> }
    expect([install?.command, testing?.command]).toEqual(['npm ci && npm run devnet', 'npm ci && npm test'])
    expect(scripts['devnet']).toBe('node dist/cli/main.js devnet')
    expect(scripts['test']).toMatch(/^vitest run\b/)
    expect(scripts['prepare']).toBe('node scripts/prepare.mjs')
    const steps = repositoryFile('.ci/run').trim().split('\n')
    expect(steps).toContain('npm ci')
    expect(steps.at(-1)).toBe('npm test')
  })
})

describe('a devnet, and what README.md, the tour, the devnet itself and docs/devnet.md say to do with it', () => {
  const checkout = new Checkout()
  let devnet: ChildProcess
  let printed = ''
  let complaints = ''
  const ended = () => new Promise<number | null>((resolve) => devnet.once('exit', resolve))
  let end: Promise<number | null>

  beforeAll(async () => {
    await requireFree(20334)
    await requireFree(20336)
    devnet = checkout.start(begin?.command ?? '')
    end = ended()
    devnet.stderr?.setEncoding('utf8').on('data', (text: string) => (complaints += text))
    await new Promise<void>((resolve, reject) => {
      devnet.stdout?.setEncoding('utf8').on('data', (text: string) => {
        printed += text
        if (printed.includes('Ctrl-C stops the devnet.\n')) resolve()
      })
      void end.then((status) => reject(new Error(`the devnet ended with ${status}: ${complaints}`)))
    })
  })

  afterAll(() => {
    if (devnet?.exitCode === null) devnet.kill('SIGKILL')
    checkout.close()
  })

  /** Runs commands in order and compares: the first ones by npx, as a reader does. */
  async function follow(commands: ReturnType<typeof commandsOf>): Promise<void> {
    for (const [i, { command, output }] of commands.entries()) {
      const { code: status, out, err } = await checkout.run(i < 3 ? command : withoutNpx(command))
      expect({ command, out: masked(out), status, err: status === 0 ? '' : err }).toEqual({
        command,
        out: masked(output),
        status: 0,
        err: '',
      })
    }
  }

  it('begins as the tour shows, by the command of README.md', () => {
    expect(install?.command).toBe(`npm ci && ${begin?.command}`)
    expectExcerpt(printed, begin?.output ?? '')
  })

  it('answers as the tour shows', async () => {
    expect(tourCommands.length).toBeGreaterThanOrEqual(10)
    await follow(tourCommands)
  })

  it('answers the beginning of the tour as README.md shows it, in excerpts', () => {
    expect(session.length).toBeGreaterThanOrEqual(7)
    // The test above has run these commands in this order and found the outputs of the tour: comparing those costs no process.
    expect(session.map(({ command }) => command)).toEqual(
      tourCommands.slice(0, session.length).map(({ command }) => command),
    )
    session.forEach(({ output }, i) => expectExcerpt(tourCommands[i]?.output ?? '', output))
  })

  it('takes the commands that it prints itself', async () => {
    const commands = [...printed.matchAll(/^ {2}(npx didledger .*)$/gm)].map(([, command]) => command as string)
    expect(commands.map((command) => command.split(' ').slice(2, 4).join(' '))).toEqual([
      'wallet send',
      'did create',
      'did resolve',
    ])
    const said: string[] = []
    for (const command of commands) {
      const { code: status, out, err } = await checkout.run(withoutNpx(command))
      expect({ command, status, err: status === 0 ? '' : err }).toEqual({ command, status: 0, err: '' })
      said.push(out.split('\n')[0] ?? '')
    }
    const did = commands[2]?.split(' ')[4]
    expect(said).toEqual([
      'Sent and mined.',
      expect.stringMatching(`^Created ${did}, valid until `),
      `${did} is valid.`,
    ])
  })

  it('runs the program of the tour', async () => {
    const [program, output] = fencedBlocks(section(tour, 'A program'))
    checkout.write('example.mjs', program?.text ?? '')
    const { out, err } = await checkout.run('node example.mjs')
    expect({ out, err }).toEqual({ out: output?.text, err: '' })
  })

  it('answers the dev_ methods as docs/devnet.md shows', async () => {
    await follow(commandsOf(section(repositoryFile('docs/devnet.md'), 'Methods')))
  })

  it('ends on SIGINT with 0 and leaves nothing behind', async () => {
    const directory = /^Data +(\S+)$/m.exec(printed)?.[1] ?? ''
    expect(existsSync(directory)).toBe(true)
    process.kill(await innermost(devnet.pid as number), 'SIGINT')
    expect(await end).toBe(0)
    expect(existsSync(directory)).toBe(false)
    await requireFree(20334)
    await requireFree(20336)
    // What is not of the live log.
    const isLive = (line: string) => /^\d\d:\d\d:\d\d (?:call|tx|block|node) /.test(line)
    const others = complaints.split('\n').filter((line) => line !== '' && !line.startsWith('npm ') && !isLive(line))
    expect(others).toEqual([])
  })
})

describe('lies, as docs/trust.md tells them', () => {
  const checkout = new Checkout()
  let devnet: ChildProcess
  afterAll(() => {
    if (devnet?.exitCode === null) devnet.kill('SIGKILL')
    checkout.close()
  })

  /** Masked, ages too. */
  const ageless = (text: string) => masked(text).replace(/\b\d+ s\b/g, '<age>')

  it('are met by the failures that the page shows', async () => {
    await requireFree(20334)
    const [start, ...commands] = lies
    expect(start?.command).toBe('npm run devnet')
    devnet = checkout.start('exec node dist/cli/main.js devnet')
    const end = new Promise((resolve) => devnet.once('exit', resolve))
    await new Promise<void>((resolve, reject) => {
      devnet.stdout?.setEncoding('utf8').on('data', (text: string) => text.includes('Ctrl-C') && resolve())
      void end.then((status) => reject(new Error(`the devnet ended with ${String(status)}`)))
    })
    const met: string[] = []
    for (const { command, output } of commands) {
      const { code, out, err } = await checkout.run(command.replaceAll('npx didledger ', 'node dist/cli/main.js '))
      const failure = /^error: .*\((\S+)\)$/.exec(output)?.[1]
      if (failure !== undefined) met.push(failure)
      const shown = failure === undefined ? out : err.trimEnd()
      // What the page does not show has no failure.
      expect({ command, code, shown: output === '' ? '' : ageless(shown) }).toEqual({
        command,
        code: failure === undefined ? 0 : 1,
        shown: ageless(output),
      })
    }
    expect(met).toEqual([
      ...['answer-transaction', 'answer-signature', 'answer-signature', 'answer-status', 'path-root', 'proof-missing'],
      ...['path-root', 'answer-did', 'path-root', 'confirm-signature', 'chain', 'trust-expired', 'stale'],
    ])
    devnet.kill('SIGINT')
    expect(await end).toBe(0)
  })
})

/** Starts a command as a process that a signal reaches, and waits until it has said something. */
async function startIn(
  checkout: Checkout,
  running: ChildProcess[],
  { command, said }: { readonly command: string; readonly said: string },
): Promise<{ printed: string; child: ChildProcess }> {
  const child = checkout.start(`exec ${withoutNpx(command)}`)
  running.push(child)
  let printed = ''
  let complaints = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  await new Promise<void>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (printed.includes(said)) resolve()
    })
    child.once('exit', (status) => reject(new Error(`${command} ended with ${status}: ${complaints}`)))
  })
  return { printed, child }
}

describe('a mirror, as the tour shows it', () => {
  const checkout = new Checkout()
  const running: ChildProcess[] = []
  afterAll(() => {
    for (const child of running) if (child.exitCode === null) child.kill('SIGKILL')
    checkout.close()
  })

  const ends = (child: ChildProcess) => {
    const end = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    return end
  }

  it('is written by a devnet, and answers when the devnet is gone', async () => {
    for (const port of [20334, 20336, 8090, 8091]) await requireFree(port)
    const commands = commandsOf(section(tour, 'A mirror'))
    expect(commands.map(({ command }) => command.replace(/^npx /, '').split(' ').slice(0, 2).join(' '))).toEqual([
      'didledger devnet',
      'didledger did',
      'didledger serve-static',
      'didledger light',
      'curl -s',
      'curl -s',
    ])
    type Command = (typeof commands)[number]
    const [begin, create, serve, light, ...asked] = commands as [Command, Command, Command, Command, ...Command[]]
    const devnet = await startIn(checkout, running, { command: begin.command, said: 'Ctrl-C stops the devnet.\n' })
    expectExcerpt(devnet.printed, begin.output)
    const created = await checkout.run(withoutNpx(create.command))
    expect({ ...created, out: masked(created.out) }).toEqual({ code: 0, out: masked(create.output), err: '' })
    expect(await ends(devnet.child)).toBe(0)
    const served = await startIn(checkout, running, { command: serve.command, said: '\n' })
    expect(served.printed.trimEnd()).toBe(serve.output)
    const lastLine = light.output.split('\n').at(-1) as string
    const resolver = await startIn(checkout, running, { command: light.command, said: `${lastLine}\n` })
    expect(resolver.printed.trimEnd()).toBe(light.output)
    const ageless = (text: string) => masked(text).replace(/"age":\d+/, '"age":<age>')
    for (const { command, output } of asked) {
      const { code, out } = await checkout.run(command)
      expect({ command, code, out: ageless(out) }).toEqual({ command, code: 0, out: ageless(output) })
    }
    for (const { child } of [resolver, served]) expect(await ends(child)).toBe(0)
  })
})

describe('a network, as the tour shows it', () => {
  aloneOnLocalnet()
  const checkout = new Checkout()
  const nodes: ChildProcess[] = []
  afterAll(() => {
    for (const node of nodes) if (node.exitCode === null) node.kill('SIGKILL')
    checkout.close()
  })

  it('begins, pays, and is joined by a fifth node', async () => {
    for (const base of [20330, 21330, 22330, 23330, 24330]) await requireFree(base + 4)
    const [four, pay, third, fifth, again] = commandsOf(section(tour, 'A network')) as Commands
    const { printed, child } = await startIn(checkout, nodes, {
      command: four.command,
      said: 'Ctrl-C stops all nodes.\n',
    })
    expectExcerpt(printed, four.output)
    // An empty block may come first.
    const paid = await checkout.run(pay.command)
    const withoutHeight = (text: string) => masked(text).replace(/^( {2}block +)\d+/m, '$1<height>')
    expect({ ...paid, out: withoutHeight(paid.out), err: '' }).toEqual({
      code: 0,
      out: withoutHeight(pay.output),
      err: '',
    })
    await expectEventually(third)
    const joined = await startIn(checkout, nodes, { command: fifth.command, said: 'Never use a key here' })
    // It may have learned the first blocks before it says what it has.
    const atAnyHeight = (text: string) => text.replace(/^(didledger localnet at height )\d+/m, '$1<height>')
    expectExcerpt(atAnyHeight(joined.printed), atAnyHeight(fifth.output))
    await expectEventually(again)
    for (const node of [joined.child, child]) {
      const end = new Promise((resolve) => node.once('exit', resolve))
      node.kill('SIGINT')
      expect(await end).toBe(0)
    }
  })

  type Commands = [Command, Command, Command, Command, Command]
  type Command = ReturnType<typeof commandsOf>[number]

  /** Other nodes hear of it a moment later. */
  async function expectEventually({ command, output }: Command): Promise<void> {
    const deadline = new Deadline(60)
    let { out } = await checkout.run(withoutNpx(command))
    while (out !== output && !deadline.over) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      ;({ out } = await checkout.run(withoutNpx(command)))
    }
    expect({ command, out }).toEqual({ command, out: output })
  }
})
