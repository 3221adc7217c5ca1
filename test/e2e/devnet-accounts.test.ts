import { afterAll, describe, expect, it } from 'vitest'
import { toHex } from '../../src/base/primitives/bytes.js'
import { devnetAccount, devnetAccountsOf, devnetMnemonic } from '../../src/clients/wallet/devnet-accounts.js'
import { code, repositoryFile, section, tableRows } from '../support/assert/markdown.js'
import { Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

interface DevnetLine {
  readonly mnemonic: string
  readonly accounts: readonly Record<'address' | 'did' | 'key' | 'balance', string>[]
}

const lineOf = ({ line }: NodeProcess) => line as typeof line & DevnetLine
const shown = (index: number) => {
  const { address, did, privateKey } = devnetAccount(index)
  return { address, did, key: toHex(privateKey) }
}

describe('devnet --json', () => {
  it('prints one line with everything a script needs, as the page says', async () => {
    const node = await NodeProcess.start('devnet')
    const { accounts, ...line } = lineOf(node)
    expect(accounts).toEqual(Array.from({ length: 10 }, (_, i) => ({ ...shown(i), balance: '10000.00000000' })))
    const { name, height, genesis, mnemonic } = line as typeof line & NodeProcess['line']
    expect({ name, height, mnemonic }).toEqual({ name: 'devnet', height: 0, mnemonic: devnetMnemonic })
    expect(genesis).toBe(await node.hashAt(0))
    const port = (url: string) => new URL(url).port
    expect(new Set([port(node.line.rest), port(node.line.rpc), port(node.line.ws)]).size).toBe(3)
    // Nothing comes behind it.
    const { out, err, code: exit } = await node.stop()
    expect({ lines: out.split('\n').length, err, exit }).toEqual({ lines: 2, err: '', exit: 0 })
    const members = tableRows(section(repositoryFile('docs/devnet.md'), 'For scripts')).map(([member]) => code(member))
    expect(members).toEqual(Object.keys(node.line))
  })
})

describe('devnet --accounts', () => {
  it('shows so many with coins, which commands can use, and pays them once', async () => {
    const dataDir = directories.fresh()
    for (const accounts of [12, 12, 3]) {
      const node = await NodeProcess.start('devnet', '--accounts', String(accounts), '--data-dir', dataDir)
      expect(node.line.height).toBe(1)
      const all = Array.from({ length: accounts }, (_, i) => ({ ...shown(i), balance: '10000.00000000' }))
      expect(lineOf(node).accounts).toEqual(all)
      await node.stop()
    }
    const node = await NodeProcess.start('devnet', '--data-dir', dataDir)
    const { address } = devnetAccount(0)
    const send = ['wallet', 'send', '--devnet-account', '11', '--to', address, '--amount', '5']
    await runJson(...send, '--rest', node.line.rest)
    expect(await node.client.balance(address)).toBe(1_000_500_000_000n)
    await node.stop()
  })

  it('and --mnemonic: the accounts that the node lists, without a private key, which dev_keys tells', async () => {
    const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
    const node = await NodeProcess.start('devnet', '--accounts', '12', '--mnemonic', words, '--balance', '7.5')
    const printed = lineOf(node).accounts
    const listed = (await node.client.rpc('dev_accounts', {})) as Record<string, unknown>[]
    const account = devnetAccountsOf(words)
    expect(listed).toEqual(
      printed.map(({ address, did, balance }, index) => {
        return { index, address, did, publicKey: toHex(account(index).publicKey), balance }
      }),
    )
    expect([listed.length, listed[11]?.['balance']]).toEqual([12, '7.50000000'])
    expect(listed[0]?.['address']).not.toBe(devnetAccount(0).address)
    await node.client.rpc('dev_faucet', { address: listed[3]?.['address'], amount: '1' })
    await expect
      .poll(async () => ((await node.client.rpc('dev_accounts', {})) as typeof listed)[3]?.['balance'])
      .toBe('8.50000000')
    const text = JSON.stringify(listed)
    for (const secret of [words, ...printed.map(({ key }) => key)]) expect(text).not.toContain(secret)
    expect(await node.client.rpc('dev_keys', {})).toMatchObject({
      mnemonic: words,
      keys: printed.map(({ key }, index) => ({ index, privateKey: key })),
    })
    await node.stop()
  })

  it.each(['0', '101', '-1', '1.5', 'many', ''])('refuses %j', async (accounts) => {
    const { code: exit, err } = await run('devnet', `--accounts=${accounts}`)
    expect(exit).toBe(2)
    expect(err).toMatch(/accounts/)
  })
})
