import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { requireText } from '../../../../src/program/cli/require-text.js'
import { Workbench } from '../../../support/process/workbench.js'

describe('what a user gives', () => {
  let bench: Workbench
  beforeEach(() => {
    bench = new Workbench()
  })
  afterEach(() => bench.close())

  const create = () => bench.run('wallet', 'create', '--wallet', bench.path('wallet.json'))
  const none = { out: '', err: expect.stringMatching('no text in UTF-8|bytes that are no UTF-8') }

  it('is a text whatever it says', () => {
    for (const text of ['', 'pässwort', '\u{1f511}', '\0']) expect(requireText(text, 'it')).toBe(text)
  })

  it('is refused as an argument of other bytes, before anything is done', async () => {
    const args = ['genesis', 'new', '--name', 'B\ufffdr', '--validators', '1', '-o', bench.path('network')]
    const message =
      'argument 4 (B\ufffdr) has U+FFFD, which stands for bytes that are no UTF-8; use a terminal that writes UTF-8'
    expect(await bench.run(...args)).toEqual({ code: 2, out: '', err: `error: ${message}\n` })
    const { code, err } = await bench.run(...args, '--json')
    expect([code, JSON.parse(err)]).toEqual([2, { error: { message } }])
  })

  it('is no password in a variable or of a terminal, and none is asked for twice', async () => {
    bench.env['DIDLEDGER_PASSWORD'] = 'correct h\ufffdrse'
    expect(await create()).toMatchObject({ code: 1, ...none })
    bench.env = {}
    bench.answers = ['correct h\ufffdrse', 'correct horse']
    expect(await create()).toMatchObject({ code: 1, ...none })
    expect(bench.answers).toEqual(['correct horse'])
    bench.answers = ['correct hörse', 'correct hörse']
    expect(await create()).toMatchObject({ code: 0 })
  })

  it('is no password in a file of Latin-1', async () => {
    const file = bench.path('password')
    const named = ['--wallet', bench.path('wallet.json'), '--password-file', file]
    writeFileSync(file, 'correct hörse\n', 'latin1')
    expect(await bench.run('wallet', 'create', ...named)).toMatchObject({ code: 1, ...none })
    writeFileSync(file, 'correct hörse\n')
    expect(await bench.run('wallet', 'create', ...named)).toMatchObject({ code: 0 })
  })
})
