import { mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { stateFile } from '../../../../src/program/cli/light-state.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { quietLog } from '../../../support/builders/chain.js'
import { Workbench } from '../../../support/process/workbench.js'

const bench = new Workbench()
afterAll(() => bench.close())

describe('the state of a light resolver in a file', () => {
  it('is none at first, and then the last one that was written, for its owner alone', () => {
    const path = bench.path('state.json')
    const { load, save } = stateFile(path, quietLog())
    expect(load()).toBeUndefined()
    void save('one')
    void save('two')
    expect(load()).toBe('two')
    expect(stateFile(path, quietLog()).load()).toBe('two')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(bench.directory).filter((name) => name.startsWith('state.json'))).toEqual(['state.json'])
  })

  it('is not taken for none where it cannot be seen whether it is there', () => {
    const path = bench.path('loop')
    symlinkSync(path, path)
    expect(() => stateFile(path, quietLog()).load()).toThrow(/^cannot see whether the state .*loop exists: ELOOP/)
  })

  it('is missed in the log where it cannot be written', () => {
    const log = quietLog()
    void stateFile(bench.path('none/state.json'), log).save('one')
    expect(log.errors).toMatchObject([{ message: expect.stringContaining('the state is not kept') }])
    mkdirSync(bench.path('none'))
    void stateFile(bench.path('none/state.json'), log).save('one')
    expect(log.errors).toHaveLength(1)
  })

  it('is refused where it cannot be read', () => {
    expect(() => stateFile(bench.directory, quietLog()).load()).toThrow(UserError)
  })
})
