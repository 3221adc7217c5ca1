import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { requireProgram } from '../../../../src/program/cli/require-program.js'
import { Workbench } from '../../../support/process/workbench.js'

const bench = new Workbench()
afterAll(() => bench.close())
const folder = bench.path('bin')
mkdirSync(folder)
const program = join(folder, 'tell')
writeFileSync(program, '#!/bin/sh\n')
chmodSync(program, 0o755)
writeFileSync(join(folder, 'text'), 'no program', { mode: 0o644 })

it('takes a path of a program, and its name in a folder of PATH', () => {
  requireProgram(program, undefined)
  requireProgram('tell', `/nowhere:${folder}`)
})

it.each([
  ['tell', '/nowhere', 'no such program in the folders of PATH; one in this folder is ./NAME'],
  ['tell', undefined, 'no such program'],
  ['', folder, 'no such program'],
  [join(folder, 'none'), folder, 'no file that may be run'],
  [folder, folder, 'no file that may be run'],
  [join(folder, 'text'), folder, 'no file that may be run'],
])('refuses what is none: %j', (name, path, message) => {
  expect(() => requireProgram(name, path)).toThrow(UserError)
  expect(() => requireProgram(name, path)).toThrow(message)
})
