import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Workbench } from '../../../support/process/workbench.js'

describe('~ in a path', () => {
  let bench: Workbench
  const home = (name = '') => join(bench.path('home'), name)
  beforeEach(() => {
    bench = new Workbench()
    mkdirSync(home())
  })
  afterEach(() => {
    expect(existsSync('~')).toBe(false)
    bench.close()
  })

  it('is the home directory behind = and as a word of its own, also as an argument', async () => {
    expect(await bench.json('wallet', 'create', '--wallet=~/a.json')).toMatchObject({ wallet: home('a.json') })
    expect(await bench.json('wallet', 'address', '--wallet', '~/a.json')).toHaveLength(1)
    expect(await bench.json('genesis', 'key', '~/validator.key')).toMatchObject({ file: home('validator.key') })
    const pay = ['--pay', 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG']
    await bench.json('genesis', 'create', 'corp', '--directory=~/corp', '--validators', '1', ...pay)
    expect(readdirSync(home()).sort()).toEqual(['a.json', 'corp', 'validator.key'])
    expect(await bench.json('genesis', 'show', '~/corp/corp.json')).toMatchObject({ name: 'corp' })
  })

  it('is it for a key in a file too, also behind a name', async () => {
    await bench.json('genesis', 'key', '~/validator.key')
    const validator = await bench.run('genesis', 'create', 'corp', '--validator', 'laptop,~/validator.key')
    expect(validator.err).toContain(`${home('validator.key')} is a private key`)
    const added = ['--add-key', 'phone,~/validator.key']
    expect((await bench.run('did', 'update', '--devnet-account', '0', ...added)).err).toContain(home('validator.key'))
  })

  it.each([
    [['wallet', 'address', '--wallet='], '--wallet'],
    [['wallet', 'address', '--password-file', ''], '--password-file'],
    [['chain', 'info', '--data-dir', ''], '--data-dir'],
    [['genesis', 'key', ''], 'file'],
    [['wallet', 'multisig', 'combine', 'a.json', ''], 'files'],
  ])('is not meant by an empty path, which %j refuses', async (args, name) => {
    expect(await bench.run(...args)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`error: ${name} : It is empty, as a variable of a shell is that is not set.`),
    })
  })

  it('is that of several files, and of an option whose value has a form', async () => {
    const { code, err } = await bench.run('wallet', 'multisig', 'combine', '~/a.json', '~/b.json')
    expect([code, err]).toEqual([1, expect.stringContaining(home('a.json'))])
    const trust = await bench.run('did', 'verify', '~/bundle', '--trust', '~/trust.json')
    expect([trust.code, trust.err]).toEqual([expect.any(Number), expect.stringContaining(home())])
  })

  it('is it in flags, variables and the configuration file of a node', async () => {
    const shown = async (...args: string[]) => {
      const { storage } = await bench.json<{ storage: { dataDir: { value: string } } }>(
        'start',
        '--print-config',
        ...args,
      )
      return storage
    }
    const wanted = { dataDir: home('data') }
    expect(await shown('--genesis', 'pow', '--data-dir=~/data')).toMatchObject(wanted)
    bench.env = { DIDLEDGER_STORAGE_DATA_DIR: '~/data' }
    expect(await shown('--genesis', 'pow')).toMatchObject(wanted)
    bench.write('home/node.json5', "{ storage: { dataDir: '~/data' }, node: { genesis: 'pow' } }")
    bench.env = {}
    expect(await shown('--config=~/node.json5')).toMatchObject(wanted)
    bench.env = { DIDLEDGER_CONFIG: '~/node.json5' }
    expect(await shown()).toMatchObject(wanted)
  })
})
