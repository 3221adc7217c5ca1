import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { CommandProcess, Directories, NodeProcess, runJson } from '../support/process/spawn.js'

/** Payments by the wallet of the command; account 9 has 1,500 coins of 0.001, of which one transaction spends 1,000. */

const directories = new Directories()
const payee = devnetAccount(0)
const small = devnetAccount(9)
const other = devnetAccount(7)
let node: NodeProcess
let rest: string[]

beforeAll(async () => {
  node = await NodeProcess.start('devnet')
  rest = ['--rest', node.line.rest]
  const away = ['--to', payee.address, '--amount', 'all']
  await runJson('wallet', 'send', '--devnet-account', '9', ...away, ...rest)
  const paid = Array.from({ length: 1500 }, () => ['--to', small.address, '--amount', '0.001']).flat()
  await runJson('wallet', 'send', '--devnet-account', '8', ...paid, ...rest)
})

afterAll(async () => {
  await node.stop()
  directories.remove()
})

async function refused(...args: string[]): Promise<string> {
  const { code, err } = await new CommandProcess([...args, ...rest]).finished
  expect(code, err).not.toBe(0)
  return err
}

describe('a payment', () => {
  const from = ['--devnet-account', '1']

  it('goes to the address of a DID, which is told before', async () => {
    const { did } = devnetAccount(5)
    expect(await refused('wallet', 'send', ...from, '--to', did, '--amount', '1')).toContain(`${did} does not exist`)
    await runJson('did', 'create', '--devnet-account', '5', ...rest)
    const before = await node.client.balance(devnetAccount(5).address)
    const sent = await new CommandProcess(['wallet', 'send', ...from, '--to', did, '--amount', '1', ...rest]).finished
    expect(sent.err).toContain(`${did} is paid at the address of its key, ${devnetAccount(5).address}`)
    expect((await node.client.balance(devnetAccount(5).address)) - before).toBe(100_000_000n)
  })

  it.each(['-', '/dev/stdout'])('goes from command to command through pipes, by %s', async (output) => {
    const at = `--rest ${node.line.rest}`
    const script = `"$@" wallet build --to ${payee.address} --amount 1 --devnet-account 1 -o ${output} ${at} |
      "$@" wallet sign - --devnet-account 1 | "$@" wallet send - ${at}`
    const { code, out, err } = await new CommandProcess([], { through: ['sh', '-c', script, 'sh'] }).finished
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('Sent and mined.') })
    expect(err).toContain('wrote standard output')
    expect(err).toContain('Next: npx didledger wallet sign -')
  })

  it('pays the price of a byte that is wanted, or its fee out of the amount', async () => {
    const send = (...args: string[]) => runJson('wallet', 'send', ...from, '--to', other.address, ...args, ...rest)
    const { txid, fee } = await send('--amount', '1', '--fee-rate', '20')
    const transaction = await node.client.transaction(String(txid))
    // One input, a payee and change.
    expect(Number(fee) * 1e8).toBeGreaterThan(20 * 250)
    expect(transaction?.vout[0]?.value).toBe('1.00000000')
    const { txid: second } = await send('--amount', '1', '--fee', '0.01', '--fee-from-amount')
    expect((await node.client.transaction(String(second)))?.vout[0]?.value).toBe('0.99000000')
    const both = await refused(
      'wallet',
      'send',
      ...from,
      '--to',
      other.address,
      '--amount',
      '1',
      '--fee',
      '1',
      '--fee-rate',
      '2',
    )
    expect(both).toContain('--fee or --fee-rate, not both')
  })

  it.each([
    [['--amount', 'al'], 'Not an amount of coins such as 1 or 0.25, nor "all".'],
    [['--amount', '1', '--fee-rate', '-1'], 'Not a price of a byte in sela'],
    [['--amount', 'all', '--to', payee.address, '--amount', 'all'], '--amount all can stand once'],
    [['--amount', 'all', '--fee-from-amount'], '--amount all pays the fee already'],
    [['--amount', '1', '--fee', '1', '--fee-from-amount'], 'leaves nothing of'],
  ])('is refused in words: %j', async (args, text) => {
    expect(await refused('wallet', 'send', ...from, '--to', other.address, ...args)).toContain(text)
  })
})

describe('balance and history', () => {
  const account = devnetAccount(3)
  const own = ['--devnet-account', '3']
  const show = async (command: string, ...args: string[]) => {
    const { code, out, err } = await new CommandProcess(['wallet', command, ...args, ...rest]).finished
    expect(code, err).toBe(0)
    return out
  }

  it('show what is mined', async () => {
    const before = await runJson('wallet', 'balance', ...own, ...rest)
    expect(before).toMatchObject({ accounts: [{ waiting: { received: '0.00000000', spent: '0.00000000' } }] })
    const { txid } = await runJson('wallet', 'send', ...own, '--to', payee.address, '--amount', '2', ...rest)
    const self = await runJson('wallet', 'send', ...own, '--to', account.address, '--amount', '3', ...rest)
    const { transactions } = await runJson<{ transactions: object[] }>('wallet', 'history', ...own, ...rest)
    expect(transactions.slice(0, 2)).toEqual([
      expect.objectContaining({ txid: self['txid'], change: '-0.00000100', own: true, fee: '0.00000100' }),
      expect.objectContaining({ txid, change: '-2.00000100', own: false, kind: 'transfer' }),
    ])
    const text = await show('history', ...own)
    expect(text).toMatch(new RegExp(`-0.00000100 {2}to itself {2}${String(self['txid'])}`))
    expect(text).toMatch(new RegExp(`-2.00000100 {2}transfer {2}${txid}`))
    const [head, ...lines] = (await show('history', '--csv', '--limit', '0', ...own)).trim().split('\n')
    expect(head).toBe('time,height,txid,kind,received,spent,change,fee,labels')
    const changes = lines.map((line) => Number(line.split(',')[6]))
    expect(lines).toContainEqual(
      expect.stringMatching(new RegExp(`^\\d{4}-[^,]+Z,\\d+,${txid},transfer,.*,-2.00000100,0.00000100,$`)),
    )
    const held = Number(((await runJson('wallet', 'balance', ...own, ...rest)) as { total: string }).total)
    expect(changes.reduce((sum, change) => sum + change, 0)).toBeCloseTo(held, 8)
    expect((await show('history', '--limit', '1', account.address)).trim().split('\n')).toHaveLength(1)
  })
})

it('what waits for a block stands beside the balance, and first in the history', async () => {
  const waiting = await NodeProcess.start('devnet', '--no-automine')
  onTestFinished(async () => void (await waiting.stop()))
  const at = ['--devnet-account', '3', '--rest', waiting.line.rest]
  const held = (await runJson<{ total: string }>('wallet', 'balance', ...at)).total
  const { txid } = await runJson('wallet', 'send', ...at, '--to', payee.address, '--amount', '2', '--no-wait')
  const { accounts, total } = await runJson<{ accounts: object[]; total: string }>('wallet', 'balance', ...at)
  expect([total, accounts]).toEqual([
    held,
    [expect.objectContaining({ waiting: { received: (Number(held) - 2.000001).toFixed(8), spent: held } })],
  ])
  const text = await new CommandProcess(['wallet', 'balance', ...at]).finished
  expect(text.out).toContain(`${held}  -2.00000100 waits for a block`)
  const other = await new CommandProcess(['wallet', 'balance', payee.address, '--rest', waiting.line.rest]).finished
  expect(other.out).toContain('+2.00000000 waits for a block')
  const { transactions } = await runJson<{ transactions: object[] }>('wallet', 'history', ...at)
  expect(transactions[0]).toMatchObject({ txid, kind: 'waits', change: '-2.00000100' })
  expect(transactions[0]).not.toHaveProperty('height')
  await waiting.client.rpc('dev_mine', { blocks: 1 })
  const mined = await runJson<{ transactions: object[] }>('wallet', 'history', ...at)
  expect(mined.transactions[0]).toMatchObject({ txid, kind: 'transfer', height: expect.any(Number) })
})

describe('an account of many small coins', () => {
  it('is told what it can send now, and how to join its coins, before anything is signed', async () => {
    const much = ['--devnet-account', '9', '--to', payee.address, '--amount', '1.49']
    for (const command of ['send', 'build']) {
      const text = await refused('wallet', command, ...much)
      expect(text).toContain('1491 coins are needed, and one transaction spends at most 1000: 0.99962')
      expect(text).toContain(`npx didledger wallet merge --devnet-account 9 --rest ${node.line.rest}`)
    }
    expect(
      await refused('wallet', 'send', '--devnet-account', '9', '--to', payee.address, '--amount', 'all'),
    ).toContain('1500 coins are needed, and one transaction spends at most 1000')
  })

  it('sends what it was told that it can send', async () => {
    const text = await refused('wallet', 'send', '--devnet-account', '9', '--to', payee.address, '--amount', '1.2')
    const [, most = ''] = /: ([0-9.]+) can be sent now/.exec(text) ?? []
    const file = directories.fresh('most.json')
    const built = await runJson(
      'wallet',
      'build',
      '--devnet-account',
      '9',
      '--to',
      payee.address,
      '--amount',
      most,
      '-o',
      file,
      ...rest,
    )
    expect(built).toMatchObject({ fee: expect.stringMatching(/^0\.000/) })
  })

  it('joins them, and then sends all', async () => {
    const { transactions } = await runJson<{ transactions: { coins: number; height: number }[] }>(
      'wallet',
      'merge',
      '--devnet-account',
      '9',
      ...rest,
    )
    expect(transactions.map(({ coins }) => coins)).toEqual([1000, 500])
    expect(transactions.every(({ height }) => height > 0)).toBe(true)
    await runJson('wallet', 'send', '--devnet-account', '9', '--to', payee.address, '--amount', 'all', ...rest)
    expect(await node.client.balance(small.address)).toBe(0n)
    expect(await refused('wallet', 'merge', '--devnet-account', '9')).toContain('there is nothing to join')
    const few = await refused('wallet', 'send', '--devnet-account', '9', '--to', payee.address, '--amount', 'all')
    expect(few).toMatch(/not enough coins.*; that is account 9, E\w+; coins are in account 0 \(\d+\.\d{8}\), 1 \(/)
  })
})
