import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toHex } from '../../src/base/primitives/bytes.js'
import { devnetAccount, devnetValidatorKey } from '../../src/clients/wallet/devnet-accounts.js'
import { type Member, TestNetwork, until } from '../support/network/test-network.js'
import { CommandProcess, Directories, NodeProcess, runJson } from '../support/process/spawn.js'

/** Three of the four validators of a chain, all of which are needed: the key of the third is at a signer in a process of its own. */

const directories = new Directories()
let network: TestNetwork
let third: Member
let place: string
let signer: CommandProcess
beforeAll(async () => {
  network = await TestNetwork.open(directories, 2)
  place = directories.fresh('signer')
  writeFileSync(`${place}.key`, toHex(devnetValidatorKey(2).privateKey), { mode: 0o600 })
  signer = await started('--begin')
  third = await network.join('validator2', { args: ['--validator-signer', socket(), '--reset-sign-state=now'] })
})
afterAll(async () => {
  await network.close()
  signer.kill('SIGKILL')
  directories.remove()
})

const socket = () => join(place, 'signer.sock')
const signerArgs = (...args: string[]) => [
  ...['signer', '--genesis', network.genesis, '--validator-key', `${place}.key`, '--data-dir', place, ...args],
]
async function started(...args: string[]): Promise<CommandProcess> {
  const command = new CommandProcess(signerArgs(...args))
  expect(await command.firstLine(), command.err).toContain('Signs for')
  return command
}
const kill = async (command: CommandProcess) => {
  command.kill('SIGKILL')
  await command.finished
}
/** A block after the present one, which the third has to sign. */
const goesOn = async () => network.reach((await network.at(0).height()) + 1)
/** Whether the third votes, or why not. */
const votes = async () => ((await third.node.client.rpc('getarbitersinfo', {})) as { signing: string }).signing

describe('a validator whose key is at a signer', () => {
  it('confirms blocks', async () => {
    await goesOn()
    await goesOn()
    expect(await votes()).toBe('yes')
  })

  it('waits while the signer is gone, and goes on when it is back, without another --begin', async () => {
    await kill(signer)
    const height = await network.at(0).height()
    await expect.poll(votes).toContain('the signer of the key does not answer')
    await new Promise((resolve) => setTimeout(resolve, 3000))
    // The block that was open may have had its votes.
    expect(await network.at(0).height()).toBeLessThanOrEqual(height + 1)
    signer = await started()
    await goesOn()
  })

  it('goes on from what the signer knows, when the node has lost all that it had', async () => {
    await third.stop('SIGKILL')
    rmSync(third.directory, { recursive: true })
    await expect
      .poll(
        () =>
          network.start(third).then(
            () => true,
            () => false,
          ),
        { timeout: 30_000 },
      )
      .toBe(true)
    await goesOn()
  })

  it('has not signed anything twice', async () => {
    for (const { node } of network.live) expect(await node.client.rpc('getevidence', {})).toEqual([])
  })
})

it('makes the blocks of a chain with one validator, which has no peer', async () => {
  const directory = directories.fresh('solo')
  const pay = devnetAccount(0).address
  await runJson('genesis', 'create', 'solo', '--pay', pay, '--validators', '1', '--directory', directory)
  const genesis = join(directory, 'solo.json')
  const spec = JSON.parse(readFileSync(genesis, 'utf8')) as { timing: object }
  writeFileSync(genesis, JSON.stringify({ ...spec, timing: { ...spec.timing, emptyInterval: 1000 } }))
  const own = join(directory, 'signer')
  const key = ['--validator-key', join(directory, 'validator-1.key')]
  const alone = new CommandProcess(['signer', '--genesis', genesis, ...key, '--data-dir', own, '--begin'])
  try {
    expect(await alone.firstLine(), alone.err).toContain('Signs for')
    const where = ['--data-dir', join(directory, 'data'), '--p2p-host', '127.0.0.1']
    const signs = ['--validator-signer', join(own, 'signer.sock')]
    const node = await NodeProcess.start('start', '--genesis', genesis, ...where, ...signs)
    try {
      await until('a block', 30, async () => {
        const height = Number(await node.client.rpc('getcurrentheight', {}))
        return height > 0 || `height ${height}`
      })
    } finally {
      await node.stop('SIGKILL')
    }
  } finally {
    await kill(alone)
  }
})

describe('a signer', () => {
  const refused = async (...args: string[]) => {
    const { code, err } = await new CommandProcess(args).finished
    expect(code).not.toBe(0)
    return err
  }

  it('is the only one of its directory, and serves one node', async () => {
    expect(await refused(...signerArgs('--socket', `${place}-2.sock`))).toContain('another process is using')
    const other = ['start', '--genesis', network.genesis, '--data-dir', directories.fresh('other'), '--port-base', '0']
    expect(await refused(...other, '--validator-signer', socket())).toContain('another node uses the signer')
  })

  it('says what is missing', async () => {
    const fresh = directories.fresh('fresh')
    const args = ['--genesis', network.genesis, '--validator-key', `${place}.key`, '--data-dir', fresh]
    expect(await refused('signer', ...args)).toContain('a key that has never signed begins with --begin')
    expect(await refused('signer', ...args.map((arg) => (arg === network.genesis ? 'devnet' : arg)))).toContain(
      'has no validators',
    )
    const start = ['start', '--genesis', network.genesis, '--data-dir', directories.fresh('none'), '--port-base', '0']
    expect(await refused(...start, '--validator-signer', join(fresh, 'none.sock'))).toContain(
      'no signer can be used at',
    )
    expect(await refused(...start, '--validator-signer', socket(), '--validator-key', `${place}.key`)).toContain(
      'names a key',
    )
  })
})
