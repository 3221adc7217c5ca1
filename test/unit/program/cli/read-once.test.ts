import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readTextOnce } from '../../../../src/program/cli/read-once.js'
import { Directories } from '../../../support/process/spawn.js'

const directories = new Directories()
beforeAll(() => mkdirSync(directories.root, { recursive: true }))
afterAll(() => directories.remove())

it('gives the text of a pipe to all who ask, and reads a file each time', async () => {
  const [pipe, file] = [join(directories.root, 'pipe'), join(directories.root, 'file')]
  execFileSync('mkfifo', [pipe])
  writeFileSync(file, 'one')
  const writer = spawn('sh', ['-c', 'printf "%s" text > "$0"', pipe])
  expect([readTextOnce(pipe, 'Trust'), readTextOnce(pipe, 'Trust')]).toEqual(['text', 'text'])
  await once(writer, 'exit')
  const first = readTextOnce(file, 'Trust')
  writeFileSync(file, 'two')
  expect([first, readTextOnce(file, 'Trust')]).toEqual(['one', 'two'])
})
