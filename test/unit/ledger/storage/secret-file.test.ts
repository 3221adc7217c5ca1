import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { loadSecret } from '../../../../src/ledger/storage/secret-file.js'

let directory: string
let drawn = 0
const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn) }

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'didledger-secret-'))
})
afterEach(() => rm(directory, { recursive: true }))

test('a secret is made once, for its owner alone', async () => {
  const file = join(directory, 'below', 'a.token')
  const secret = await loadSecret(file, 'token', random)
  expect(secret).toHaveLength(32)
  expect(await readFile(file, 'utf8')).toBe(`${toHex(secret)}\n`)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(toHex(await loadSecret(file, 'token', random))).toBe(toHex(secret))
})

test.each(['', 'x', '00'.repeat(31), '00'.repeat(33), `${'00'.repeat(32)} 00`])(
  'a file of %j is refused',
  async (text) => {
    const file = join(directory, 'a.token')
    await writeFile(file, text, { mode: 0o600 })
    await expect(loadSecret(file, 'token', random)).rejects.toThrow(UserError)
    await expect(loadSecret(file, 'token', random)).rejects.toThrow(/a\.token holds no token of 64 hex digits/)
    expect(await readFile(file, 'utf8')).toBe(text)
  },
)

test.each([0o640, 0o604, 0o644, 0o620, 0o660])('a file of mode %o is refused, and left as it is', async (mode) => {
  const file = join(directory, 'a.token')
  const secret = await loadSecret(file, 'admin token', random)
  await chmod(file, mode)
  await expect(loadSecret(file, 'admin token', random)).rejects.toThrow(UserError)
  await expect(loadSecret(file, 'admin token', random)).rejects.toThrow(
    `others may read the admin token ${file}: run chmod 600 on it`,
  )
  expect((await stat(file)).mode & 0o777).toBe(mode)
  await chmod(file, 0o600)
  expect(toHex(await loadSecret(file, 'admin token', random))).toBe(toHex(secret))
})

test('one that cannot be read is not replaced', async () => {
  // A directory in its place cannot be read by anybody, root included.
  await expect(loadSecret(directory, 'token', random)).rejects.toThrow(/EISDIR/)
})
