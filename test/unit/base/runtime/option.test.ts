import { describe, expect, it } from 'vitest'
import { optionsFor, wholeNumber } from '../../../../src/base/runtime/option.js'

interface Target {
  readonly size: number
  readonly reserve: number
  readonly name: string
}

const { option, tuning, table } = optionsFor<Target>()
const row = { flag: '--size <n>', ...wholeNumber(1, 9, 'rows'), description: 'size' } as const

describe('what an option sets', () => {
  it('is the member of its name, the member that it names, or what it makes of the value', () => {
    const made = table('pool', {
      size: option(row),
      rows: option('size', row),
      both: option((size) => ({ size, reserve: size * 2 }), row),
    })
    expect(made.size.effect(5)).toEqual({ size: 5 })
    expect(made.rows.effect(5)).toEqual({ size: 5 })
    expect(made.both.effect(5)).toEqual({ size: 5, reserve: 10 })
  })

  it('does not compile where it is nothing of the target', () => {
    const wrong = [
      // @ts-expect-error there is no member of this name
      () => table('pool', { sise: option(row) }),
      // @ts-expect-error the member of this name takes text
      () => table('pool', { name: option(row) }),
      // @ts-expect-error there is no such member
      () => option('sise', row),
      // @ts-expect-error the member takes text
      () => option('name', row),
      // @ts-expect-error there is no such member
      () => option((sise) => ({ sise }), row),
      // @ts-expect-error the member takes text
      () => option((name) => ({ name }), row),
      // @ts-expect-error the default is no number
      () => option({ ...row, default: 'three' }),
    ]
    expect(wrong).toHaveLength(7)
  })
})

describe('an option', () => {
  it('has a key of its section and name', () => {
    const key: 'pool.size' = table('pool', { size: option(row) }).size.key
    expect(key).toBe('pool.size')
  })

  it('has a default that the types know', () => {
    const { size, reserve } = table('pool', { size: option(row), reserve: option({ ...row, default: 3 }) })
    const none: number | undefined = size.default
    const three: number = reserve.default
    expect([none, three]).toEqual([undefined, 3])
  })

  it('is for tuning only where the row says so, also for the types', () => {
    const { size, reserve } = table('pool', { size: option(row), reserve: tuning(row) })
    const plain: false = size.tuning
    const tuned: true = reserve.tuning
    expect([plain, tuned]).toEqual([false, true])
  })

  it('is for all commands, for those of its module, or for its own', () => {
    const { option, table } = optionsFor<Target>(['start'])
    const { size, reserve } = table('pool', { size: option(row), reserve: option({ ...row, commands: ['devnet'] }) })
    expect([size.commands, reserve.commands]).toEqual([['start'], ['devnet']])
  })

  it('says in words which numbers it takes', () => {
    expect(wholeNumber(1, 9, 'rows')).toMatchObject({ expects: 'a number of rows from 1 to 9', unit: 'rows' })
    expect(wholeNumber(1, 9, 'ms')).toMatchObject({ expects: 'a number of milliseconds from 1 to 9', unit: 'ms' })
  })
})
