import type { ChildProcess } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { Checkout, innermost, withoutNpx } from '../support/process/checkout.js'

const checkout = new Checkout()
let devnet: ChildProcess | undefined

afterAll(() => {
  if (devnet?.exitCode === null) devnet.kill('SIGKILL')
  checkout.close()
})

/** Starts a devnet on the one data directory of this file and returns the commands that it prints. */
async function start(options: string): Promise<string[]> {
  const child = checkout.start(`exec node dist/cli/main.js devnet --port-base 0 --data-dir ./devnet ${options}`)
  devnet = child
  let printed = ''
  let complaints = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  await new Promise<void>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (printed.includes('Ctrl-C stops the devnet.\n')) resolve()
    })
    child.once('exit', (status) => reject(new Error(`the devnet ended with ${status}: ${complaints}`)))
  })
  return [...printed.matchAll(/^ {2}((?:npx|curl) .*)$/gm)].map(([, command]) => command as string)
}

async function stop(): Promise<void> {
  const child = devnet as ChildProcess
  const ended = new Promise((resolve) => child.once('exit', resolve))
  process.kill(await innermost(child.pid as number), 'SIGINT')
  expect(await ended).toBe(0)
}

/** Pastes the commands one after another; the first line that each prints. */
async function paste(commands: readonly string[]): Promise<string[]> {
  const said: string[] = []
  for (const command of commands) {
    const { code, out, err } = await checkout.run(withoutNpx(command))
    expect({ command, code, err: code === 0 ? '' : err }).toEqual({ command, code: 0, err: '' })
    said.push(out.split('\n')[0] ?? '')
  }
  return said
}

describe('what a devnet says to do next can be pasted', () => {
  const did = (account: number) => devnetAccount(account).did

  it('where nobody makes blocks', async () => {
    const [send = '', create = '', ...rest] = await start('--no-automine')
    expect(await paste([send, create])).toEqual([
      'Sent.',
      expect.stringMatching(`^The node has accepted the create of ${did(2)}, which waits for its block\\.$`),
    ])
    expect(await checkout.run(withoutNpx(create))).toMatchObject({
      code: 1,
      err: expect.stringMatching(`the create of ${did(2)} is pending: transaction [0-9a-f]{64} waits`),
    })
    expect(await paste(rest)).toEqual([
      expect.stringMatching(/^\{"id":null,"jsonrpc":"2\.0","result":\["[0-9a-f]{64}"\]\}$/),
      `${did(2)} is valid.`,
    ])
    await stop()
  })

  it.each([
    ['--block-time 1', 3],
    ['', 4],
  ])('on a chain that holds DIDs already: devnet %s', async (options, account) => {
    expect(await paste(await start(options))).toEqual([
      'Sent and mined.',
      expect.stringMatching(`^Created ${did(account)}, valid until [^ ]*\\.$`),
      `${did(account)} is valid.`,
    ])
    await stop()
  })
})
