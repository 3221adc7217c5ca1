import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatAmount } from '../../src/base/primitives/amount.js'
import { Transaction } from '../../src/base/primitives/transaction.js'
import { commandsOf, repositoryFile, section } from '../support/assert/markdown.js'
import { besidesWaiting, CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

/** Four wallets own an address together and pay from it through files, as people on four machines would. */

const directories = new Directories()
let devnet: NodeProcess
beforeAll(async () => {
  await mkdir(directories.root, { recursive: true })
  devnet = await NodeProcess.start('devnet')
})
afterAll(async () => {
  await devnet?.stop()
  directories.remove()
})

const file = (name: string) => join(directories.root, name)
const rest = () => ['--rest', devnet.line.rest]
const balance = async (address: string) => formatAmount(await devnet.client.balance(address))

interface Report {
  readonly txid: string
  readonly fee: string
  readonly hex: string
  readonly signed: boolean
  readonly signatures: readonly { readonly present: number; readonly required: number }[]
}

describe('three of four', () => {
  const owners = ['alice', 'bob', 'carol', 'dave'] as const
  type Owner = (typeof owners)[number]
  const recipient = 'ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD'
  const wallet = (owner: Owner) => ['--wallet', file(`${owner}.json`), '--password-file', file('password')]
  let keys: string[]
  let address: string

  const build = (name: string, amount: string) =>
    runJson<Report>(
      ...['wallet', 'multisig', 'build', '--required', '3', ...keys, ...rest()],
      ...['--to', recipient, '--amount', amount, '-o', file(name)],
    )
  const sign = (owner: Owner, from: string, to: string) =>
    runJson<Report>('wallet', 'sign', file(from), ...wallet(owner), '-o', file(to))
  const hexOf = (name: string) => (JSON.parse(readFileSync(file(name), 'utf8')) as Report).hex

  beforeAll(async () => {
    writeFileSync(file('password'), 'correct horse battery staple\n', { mode: 0o600 })
    await Promise.all(owners.map((owner) => runJson('wallet', 'create', ...wallet(owner))))
    const accounts = await Promise.all(
      owners.map((owner) => runJson<{ publicKey: string }[]>('wallet', 'address', '--wallet', file(`${owner}.json`))),
    )
    keys = accounts.flatMap(([account]) => ['--key', String(account?.publicKey)])
    const told = await runJson<{ address: string }>('wallet', 'multisig', 'address', '--required', '3', ...keys)
    address = told.address
    // Another owner, who lists the others in another order, is told the same.
    const others = [...keys.slice(4), ...keys.slice(0, 2)]
    const own = ['--wallet', file('bob.json')]
    expect(await runJson('wallet', 'multisig', 'address', '--required', '3', ...others, ...own)).toEqual(told)
    await runJson('wallet', 'send', '--devnet-account', '5', '--to', address, '--amount', '100', ...rest())
    expect(await balance(address)).toBe('100.00000000')
  })

  it('is refused with two signatures, here and by the node, and mined with three', async () => {
    const before = Number(await balance(recipient))
    const { fee, txid } = await build('turn.json', '25')
    const steps = [
      await sign('dave', 'turn.json', 'turn-1.json'),
      await sign('alice', 'turn-1.json', 'turn-2.json'),
      await sign('carol', 'turn-2.json', 'turn-3.json'),
    ]
    expect(steps.map(({ signed, signatures }) => [signed, signatures[0]?.present, signatures[0]?.required])).toEqual([
      [false, 1, 3],
      [false, 2, 3],
      [true, 3, 3],
    ])
    expect(new Set(steps.map((step) => step.txid))).toEqual(new Set([txid]))

    const early = await run('wallet', 'send', file('turn-2.json'), ...rest())
    expect(early).toMatchObject({ code: 1, out: '' })
    expect(early.err).toContain(`is not signed yet by ${address} (2 of 3 signatures, 1 missing)`)
    const refused = await fetch(`${devnet.line.rest}/api/v1/transaction`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ Action: 'sendrawtransaction', data: hexOf('turn-2.json') }),
    })
    expect([refused.status, await refused.json()]).toEqual([
      400,
      {
        Desc: 'INTERNAL ERROR, ErrAttributeProgram',
        Error: 45007,
        Result: expect.stringContaining('program 0 needs 3 signatures'),
      },
    ])
    const again = await run('wallet', 'sign', file('turn-2.json'), ...wallet('dave'), '-o', file('again.json'))
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('this wallet has signed already') })

    expect(await runJson('wallet', 'send', file('turn-3.json'), ...rest())).toMatchObject({ txid, fee })
    const left = (100 - 25 - Number(fee)).toFixed(8)
    expect(await balance(address)).toBe(left)
    expect(Number(await balance(recipient)) - before).toBe(25)
  })

  it('is signed in parallel with the bytes of signing in turn, and with a fourth signature mined too', async () => {
    const held = Number(await balance(address))
    const { fee, txid } = await build('parallel.json', '10')
    await Promise.all(owners.map((owner) => sign(owner, 'parallel.json', `parallel-${owner}.json`)))
    await sign('bob', 'parallel-carol.json', 'two.json')
    await sign('alice', 'two.json', 'three.json')
    const combine = (name: string, ...from: string[]) =>
      runJson<Report>(
        'wallet',
        'multisig',
        'combine',
        ...from.map((one) => file(`parallel-${one}.json`)),
        '-o',
        file(name),
      )
    expect(await combine('some.json', 'carol', 'alice')).toMatchObject({ signed: false, signatures: [{ present: 2 }] })
    expect(await combine('enough.json', 'carol', 'alice', 'bob')).toMatchObject({ signed: true })
    expect(hexOf('enough.json')).toBe(hexOf('three.json'))
    expect(await combine('all.json', ...owners)).toMatchObject({ signed: true, signatures: [{ present: 4 }] })
    expect(Transaction.fromHex(hexOf('all.json')).programs[0]?.parameter).toHaveLength(4 * 65)
    const other = await run('wallet', 'multisig', 'combine', file('turn.json'), file('parallel-bob.json'))
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining('is another transaction') })

    expect(await runJson('wallet', 'send', file('all.json'), ...rest())).toMatchObject({ txid })
    expect(await balance(address)).toBe((held - 10 - Number(fee)).toFixed(8))
  })
})

describe('docs/wallet.md', () => {
  it('shows what its commands print', async () => {
    const cwd = directories.fresh('page')
    await mkdir(cwd)
    const onNode = / (?:send|balance|multisig build) /
    const masked = (text: string) =>
      text
        .replaceAll(` ${rest().join(' ')}`, '')
        .replace(/\b[0-9a-f]{64}\b/g, '<hash>')
        .replace(/(block +)\d+/g, '$1<n>')
    for (const { command, output } of commandsOf(
      section(repositoryFile('docs/wallet.md'), 'Addresses of several keys'),
    )) {
      const args = command.replace('npx didledger ', '').split(' ')
      const { code, out, err } = await new CommandProcess([...args, ...(onNode.test(command) ? rest() : [])], { cwd })
        .finished
      expect({ command, code, err: besidesWaiting(err), out: masked(out.trimEnd()) }).toEqual({
        command,
        code: 0,
        err: '',
        out: masked(output),
      })
    }
  })
})
