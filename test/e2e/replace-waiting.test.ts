import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseAmount } from '../../src/base/primitives/amount.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { CommandProcess, Directories, NodeProcess, runJson } from '../support/process/spawn.js'

/** Payments that wait on a devnet that makes blocks on demand, and what takes their place. */

const [payer, payee, poor] = [devnetAccount(1), devnetAccount(2), devnetAccount(3)]
const from = ['--devnet-account', '1']
const directories = new Directories()
let node: NodeProcess
let rest: string[]

beforeAll(async () => {
  node = await NodeProcess.start('devnet', '--no-automine')
  rest = ['--rest', node.line.rest]
})

afterAll(async () => {
  await node.stop()
  directories.remove()
})

const mine = () => node.client.rpc('dev_mine', { blocks: 1 })
const pool = async () => (await node.client.pool()).map(({ txid }) => txid)
const wallet = (...args: string[]) => runJson('wallet', ...args, ...rest)

async function pay(...args: string[]): Promise<string> {
  const { txid } = await wallet('send', ...from, '--no-wait', ...args)
  return String(txid)
}

async function refused(...args: string[]): Promise<string> {
  const { code, err } = await new CommandProcess(['wallet', ...args, ...rest]).finished
  expect(code, err).toBe(1)
  return err
}

interface Entry {
  readonly txid: string
  readonly kind: string
  readonly change: string
}

async function history(): Promise<Entry[]> {
  return (await wallet('history', ...from))['transactions'] as Entry[]
}

async function balance(address: string): Promise<Record<string, unknown>> {
  const { accounts } = await wallet('balance', address)
  return (accounts as Record<string, unknown>[])[0] as Record<string, unknown>
}

beforeEach(async () => {
  await mine()
})

describe('wallet bump', () => {
  it('sends the same for the least fee that the node takes, which history and balance show at once', async () => {
    const before = await node.client.balance(payee.address)
    const had = await balance(payer.address)
    const first = await pay('--to', payee.address, '--amount', '2')
    const bumped = await wallet('bump', first, ...from, '--no-wait')
    expect(bumped).toMatchObject({ replaces: first, fee: '0.00000200', feeBefore: '0.00000100' })
    const second = String(bumped['txid'])
    expect(await pool()).toEqual([second])
    expect((await history())[0]).toMatchObject({ txid: second, kind: 'waits', change: '-2.00000200' })
    const now = await balance(payer.address)
    const { received, spent } = now['waiting'] as Record<string, string>
    expect(parseAmount(received as string)! - parseAmount(spent as string)!).toBe(-200_000_200n)
    expect(now['balance']).toBe(had['balance'])
    const text = await new CommandProcess(['wallet', 'bump', second, ...from, '--fee', '0.0001', '--no-wait', ...rest])
      .finished
    expect(text.err).toContain(`sending the same as ${second} once more: the fee is 0.00010000 instead of 0.00000200`)
    expect(text.out).toContain(`replaces  ${second}`)
    expect(text.out).toContain(`pays      2.00000000  ${payee.address}`)
    await mine()
    expect((await node.client.balance(payee.address)) - before).toBe(200_000_000n)
    const [last] = await history()
    expect(last).toMatchObject({ kind: 'transfer', change: '-2.00010000' })
    expect((await history()).filter(({ txid }) => [first, second].includes(txid))).toEqual([])
  })

  it('pays a price of a byte, and what a replaced one waits for ends with the reason', async () => {
    const first = await pay('--to', payee.address, '--amount', '2')
    const waiting = node.client.waitForBlock(first).catch((error: unknown) => String(error))
    const { txid, fee } = await wallet('bump', first, ...from, '--no-wait', '--fee-rate', '20')
    expect(parseAmount(String(fee))).toBeGreaterThan(20n * 250n)
    expect(await waiting).toContain(`has dropped transaction ${first}: it was replaced by ${String(txid)}`)
  })

  it('adds coins of the account where the change is too small', async () => {
    const account = ['--devnet-account', '3']
    await wallet('send', '--devnet-account', '3', '--to', payee.address, '--amount', 'all', '--no-wait')
    await wallet('send', ...from, '--to', poor.address, '--amount', '1', '--no-wait')
    await mine()
    const { txid } = await wallet('send', ...account, '--to', payee.address, '--amount', 'all', '--no-wait')
    const first = String(txid)
    expect(await refused('bump', first, ...account)).toContain(
      `the change of ${first} does not pay a fee of 0.00000200`,
    )
    expect(await pool()).toEqual([first])
    await mine()
    for (const amount of ['1', '0.5']) {
      await wallet('send', ...from, '--to', poor.address, '--amount', amount, '--no-wait')
    }
    await mine()
    const exact = await wallet('send', ...account, '--to', payee.address, '--amount', '0.999999', '--no-wait')
    const bumped = await wallet('bump', String(exact['txid']), ...account, '--no-wait')
    expect(await pool()).toEqual([bumped['txid']])
    expect((await node.client.transaction(String(bumped['txid'])))?.vin).toHaveLength(2)
  })

  it('says why it does not: a fee too low, others built upon it, another payer, mined, unknown', async () => {
    const first = await pay('--to', payee.address, '--amount', '2')
    expect(await refused('bump', first, ...from, '--fee', '0.00000199')).toContain(
      `a fee of 0.00000199 is too low: ${first} pays 0.00000100, and 0.00000200 replaces it`,
    )
    expect(await refused('bump', first, '--devnet-account', '2')).toContain(
      `${first} is not paid by ${payee.address} alone`,
    )
    const child = await pay('--to', payee.address, '--amount', '3')
    for (const command of ['bump', 'cancel']) {
      expect(await refused(command, first, ...from)).toContain(
        `others have built upon ${first}, so that it stays as it is: ${child} spends an output of it`,
      )
    }
    expect(await pool()).toEqual([first, child])
    await mine()
    expect(await refused('bump', first, ...from)).toContain(`${first} waits no more: it is mined, in block`)
    expect(await refused('bump', '00'.repeat(32), ...from)).toContain('no transaction 0000')
    const { code, err } = await new CommandProcess(['wallet', 'bump', 'ab', ...from, ...rest]).finished
    expect([code, err]).toEqual([2, expect.stringContaining('Not the id of a transaction')])
  })
})

describe('payments and operations of one account at the same time', () => {
  it('all wait for a block: none takes the place of another', async () => {
    const args = [
      ['wallet', 'send', '--to', payee.address, '--amount', '1'],
      ['wallet', 'send', '--to', payee.address, '--amount', '2', '--fee', '0.01'],
      ['wallet', 'send', '--to', payee.address, '--amount', '3', '--fee', '0.1'],
      ['did', 'create', '--fee', '1'],
    ]
    const common = ['--devnet-account', '4', '--no-wait', ...rest]
    const sent = await Promise.all(args.map((each) => runJson(...each, ...common)))
    expect((await pool()).toSorted()).toEqual(sent.map(({ txid }) => String(txid)).toSorted())
  })

  it('are refused where they were signed elsewhere and their coins are taken', async () => {
    const file = directories.fresh('dear.json')
    await wallet('build', ...from, '--to', payee.address, '--amount', '1', '--fee', '0.5', '-o', file)
    const signed = await runJson('wallet', 'sign', file, ...from)
    const first = await pay('--to', payee.address, '--amount', '2')
    expect(await refused('send', String(signed['file']))).toContain(`is spent by ${first}, which is in the pool`)
    expect(await pool()).toEqual([first])
  })
})

describe('a signed file', () => {
  it('may be sent again, while it waits and once it is mined', async () => {
    const file = directories.fresh('twice.json')
    await wallet('build', ...from, '--to', payee.address, '--amount', '1', '-o', file)
    const { file: signed, txid } = await runJson('wallet', 'sign', file, ...from)
    const send = async (...args: string[]) => {
      const { code, out, err } = await new CommandProcess(['wallet', 'send', String(signed), ...args, ...rest]).finished
      expect([code, err]).toEqual([0, ''])
      return out
    }
    expect(await send('--no-wait')).toContain('Sent.\n')
    expect(await send('--no-wait')).toContain('Sent before; it waits for a block.\n')
    const waiting = send('--json')
    await mine()
    expect(JSON.parse(await waiting)).toMatchObject({ txid, height: expect.any(Number) as number })
    expect(await send('--no-wait')).toMatch(
      new RegExp(`^Sent before, and mined\\.\n +txid +${String(txid)}\n +block +[0-9]+  `),
    )
  })
})

describe('labels', () => {
  it('are shown in the history for what was paid to them, is waiting, or came to them', async () => {
    const keystore = ['--wallet', directories.fresh('alice.json')]
    const env = { DIDLEDGER_PASSWORD: 'correct horse' }
    const run = async (...args: string[]) => {
      const { code, out, err } = await new CommandProcess(['wallet', ...args, ...keystore], { env }).finished
      expect(code, err).toBe(0)
      return out
    }
    const created = await run('create', '--json')
    const { address } = JSON.parse(created) as { address: string }
    await run('label', address, 'Savings "2"')
    await run('label', payee.address, 'Bob')
    const paid = await pay('--to', address, '--amount', '5')
    await mine()
    const sent = JSON.parse(await run('send', '--to', 'Bob', '--amount', '1', '--no-wait', '--json', ...rest)) as Entry
    const shown = await run('history', ...rest)
    expect(shown).toMatch(new RegExp(`waits +${sent.txid}  Savings "2", Bob\n`))
    expect(shown).toMatch(new RegExp(`transfer +${paid}  Savings "2"\n`))
    const bumped = JSON.parse(await run('bump', sent.txid, '--no-wait', '--json', ...rest)) as Entry
    await mine()
    const { transactions } = JSON.parse(await run('history', '--json', ...rest)) as { transactions: object[] }
    expect(transactions).toMatchObject([
      { txid: bumped.txid, labels: ['Savings "2"', 'Bob'], change: '-1.00000200' },
      { txid: paid, labels: ['Savings "2"'], change: '+5.00000000' },
    ])
    expect(await run('history', '--csv', ...rest)).toContain(',"Savings ""2"", Bob"\n')
    expect(await run('address')).toContain('label       Savings "2"')
  })
})

describe('wallet cancel', () => {
  it('brings the coins back, of which only the fee is gone', async () => {
    const had = await node.client.balance(payer.address)
    const before = await node.client.balance(payee.address)
    const first = await pay('--to', payee.address, '--amount', '2')
    const { code, out, err } = await new CommandProcess(['wallet', 'cancel', first, ...from, '--no-wait', ...rest])
      .finished
    expect([code, err]).toEqual([0, expect.stringContaining(`taking ${first} back: the fee is 0.00000200`)])
    expect(out).not.toContain('pays')
    const [second] = await pool()
    expect((await history())[0]).toMatchObject({ txid: second, kind: 'waits', change: '-0.00000200' })
    for (const command of ['bump', 'cancel']) {
      expect(await refused(command, first, ...from)).toContain(
        `error: ${first} waits no more: it was replaced by ${second} already, so name that one to bump or cancel it`,
      )
    }
    await mine()
    expect(await node.client.balance(payee.address)).toBe(before)
    expect(had - (await node.client.balance(payer.address))).toBe(200n)
  })

  it('takes an operation of a DID back', async () => {
    const { txid } = await runJson('did', 'create', ...from, '--no-wait', ...rest)
    await wallet('cancel', String(txid), ...from, '--no-wait')
    await mine()
    const { code, err } = await new CommandProcess(['did', 'deactivate', ...from, ...rest]).finished
    expect([code, err]).toEqual([1, expect.stringContaining(`${payer.did} does not exist`)])
  })
})

describe('a command that is stopped while its transaction waits', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('names the transaction, and ends by %s', async (stop) => {
    const sending = new CommandProcess([
      ...['wallet', 'send', ...from, '--to', payee.address, '--amount', '3', '--json'],
      ...rest,
    ])
    while ((await pool()).length === 0) await pause(20)
    sending.kill(stop)
    const { signal, out, err } = await sending.finished
    const [txid] = await pool()
    const { message } = (JSON.parse(err) as { error: { message: string } }).error
    expect([signal, out, message]).toEqual([stop, '', expect.stringContaining(`transaction ${txid}`)])
    await mine()
  })
})
