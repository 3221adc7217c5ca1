import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { FakeNode } from '../../../support/fakes/fake-node.js'
import { specText, Workbench } from '../../../support/process/workbench.js'

const [bob, carol] = [devnetAccount(1), devnetAccount(2)]

describe('didledger wallet label', () => {
  let bench: Workbench
  let node: FakeNode
  let rest: string[]
  let wallet: string[]
  let own: string
  beforeEach(async () => {
    bench = new Workbench()
    node = new FakeNode()
    node.spec = parseSpec(specText())
    rest = ['--rest', await node.start()]
    wallet = ['--wallet', bench.path('alice.json')]
    own = String((await bench.json('wallet', 'create', ...wallet))['address'])
  })
  afterEach(async () => {
    bench.close()
    await node.stop()
  })

  const label = (...args: string[]) => bench.run('wallet', 'label', ...args, ...wallet)

  it('gives, shows, lists and removes labels, without the password', async () => {
    bench.env = {}
    expect(await label()).toMatchObject({ code: 0, out: 'No labels.\n' })
    const file = `${bench.path('alice.json')}.labels.json`
    expect(existsSync(file)).toBe(false)
    const given = await label(bob.address, 'Bob the builder')
    expect(given.out).toContain(`${bob.address} has the label "Bob the builder", kept in ${file}.`)
    expect(given.out).toContain(
      `Next: npx didledger wallet send --to 'Bob the builder' --amount COINS ${wallet.join(' ')}`,
    )
    await label(own, 'Savings')
    expect(await label(bob.address)).toMatchObject({ code: 0, out: 'Bob the builder\n' })
    expect(await bench.json('wallet', 'label', ...wallet)).toEqual([
      { address: bob.address, label: 'Bob the builder' },
      { address: own, label: 'Savings' },
    ])
    expect((await label(bob.address, '--remove')).out).toContain('Removed the label "Bob the builder"')
    expect(await label(bob.address)).toMatchObject({ code: 1, err: `error: ${bob.address} has no label\n` })
    expect(await label(bob.address, '--remove')).toMatchObject({ code: 1 })
    expect(await label('--remove')).toMatchObject({ code: 2 })
    expect(await label(bob.address, 'x', '--remove')).toMatchObject({ code: 2 })
    expect(await label('Bob', 'x')).toMatchObject({ code: 2 })
    expect((await label(bob.address, 'x\u001b')).err).toContain('characters that are not seen')
  })

  it('says that an account of a devnet has none, and makes the file of no keystore', async () => {
    const { code, err } = await bench.run('wallet', 'label', bob.address, 'Bob', '--devnet-account', '0')
    expect([code, err]).toEqual([2, expect.stringContaining('--devnet-account has none: name one with --wallet')])
    const missing = await bench.run('wallet', 'label', bob.address, 'Bob', '--wallet', bench.path('none.json'))
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('there is no keystore') as string })
  })

  it('is shown by wallet address', async () => {
    await label(own, 'Savings')
    expect((await bench.run('wallet', 'address', ...wallet)).out).toContain('label       Savings\n')
    expect(await bench.json('wallet', 'address', ...wallet)).toMatchObject([{ address: own, label: 'Savings' }])
  })

  it('names whom a payment goes to, which is told before', async () => {
    node.fund(own, 1_000_000_000n)
    await label(bob.address, 'Bob')
    const send = (...args: string[]) => bench.run('wallet', 'send', ...args, '--amount', '1', ...wallet, ...rest)
    const sent = await send('--to', 'Bob')
    expect([sent.code, sent.err]).toEqual([0, expect.stringContaining(`Bob is the label of ${bob.address}\n`)])
    expect(sent.out).toContain(`pays    1.00000000  ${bob.address}`)
    // An address wins over everything else, and labels are exact.
    expect((await send('--to', carol.address)).out).toContain(`pays    1.00000000  ${carol.address}`)
    for (const wrong of ['bob', 'Bob ', 'Bobby', `${bob.address}x`]) {
      const { code, err } = await send('--to', wrong)
      expect([code, err], wrong).toEqual([
        2,
        expect.stringContaining('Not an address (34 characters with a right checksum), and no label in'),
      ])
    }
    const devnet = await bench.run('wallet', 'send', '--to', 'Bob', '--amount', '1', '--devnet-account', '0', ...rest)
    expect([devnet.code, devnet.err]).toEqual([2, expect.stringContaining('--devnet-account has no keystore')])
  })

  it('that someone else put into the file is refused before anything is sent', async () => {
    node.fund(own, 1_000_000_000n)
    bench.write(
      'alice.json.labels.json',
      JSON.stringify({ format: 'didledger-labels', version: 1, labels: { x: 'Bob' } }),
    )
    const { code, err } = await bench.run('wallet', 'send', '--to', 'Bob', '--amount', '1', ...wallet, ...rest)
    expect([code, err]).toEqual([1, expect.stringContaining('alice.json.labels.json is damaged: x is no address')])
  })
})
