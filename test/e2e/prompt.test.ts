import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { startChild } from '../support/process/children.js'
import { Directories, program, run } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

/** Runs the program on a terminal of its own, and types a text as soon as it asks; resolves with all that the terminal showed. */
function onTerminal(args: readonly string[], typed: string, redirection = ''): Promise<string> {
  const words = [process.execPath, program, ...args].map((word) => `'${word}'`)
  const command = [...words, redirection].join(' ')
  const child = startChild('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] })
  let shown = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const asked = shown.includes(': ')
    shown += text
    if (!asked && shown.includes(': ')) child.stdin?.write(typed)
  })
  return new Promise((resolve, reject) => child.once('error', reject).once('close', () => resolve(shown)))
}

it.runIf(existsSync('/usr/bin/script'))('a terminal asks for a password that is corrected and pasted', async () => {
  const folder = directories.fresh()
  mkdirSync(folder)
  const wallet = join(folder, 'wallet.json')
  const created = await onTerminal(
    ['wallet', 'create', '--wallet', wallet],
    'correct horse\u0015correct hose\u0017horse\rcorrect horse\r',
  )
  expect(created).toContain(`New password for ${wallet}: \r\nThe same again: \r\nWrote ${wallet}.`)
  expect(created).not.toContain('correct')
  const password = join(folder, 'password')
  writeFileSync(password, 'correct horse\n')
  const opened = await run('wallet', 'address', '--new', '--wallet', wallet, '--password-file', password)
  expect(opened).toMatchObject({ code: 0, err: '' })
})

it.runIf(existsSync('/usr/bin/script'))('a terminal is asked where standard error goes to a file', async () => {
  const folder = directories.fresh()
  mkdirSync(folder)
  const [wallet, errors] = [join(folder, 'wallet.json'), join(folder, 'errors')]
  const args = ['wallet', 'create', '--wallet', wallet]
  const created = await onTerminal(args, 'correct horse\rcorrect horse\r', `2>'${errors}'`)
  expect(created).toContain(`New password for ${wallet}: \r\nThe same again: \r\nWrote ${wallet}.`)
  expect(readFileSync(errors, 'utf8')).toBe('')
})
