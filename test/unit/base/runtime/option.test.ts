import { describe, expect, it } from 'vitest'
import { optionsFor, wholeNumber } from '../../../../src/base/runtime/option.js'

interface Target {
  readonly size: number
  readonly reserve: number
  readonly name: string
}

const option = optionsFor<'pool', Target>()
const row = { key: 'pool.size', flag: '--size <n>', ...wholeNumber(1, 9, 'a number'), description: 'size' } as const

describe('what an option sets', () => {
  it('is the member that it names, or what it makes of the value', () => {
    expect(option({ ...row, sets: 'size' }).effect(5)).toEqual({ size: 5 })
    const both = option({ ...row, sets: (size) => ({ size, reserve: size * 2 }) })
    expect(both.effect(5)).toEqual({ size: 5, reserve: 10 })
  })

  it('does not compile where it is nothing of the target', () => {
    const wrong = [
      // @ts-expect-error nothing is set
      () => option({ ...row }),
      // @ts-expect-error there is no such member
      () => option({ ...row, sets: 'sise' }),
      // @ts-expect-error the member takes text
      () => option({ ...row, sets: 'name' }),
      // @ts-expect-error there is no such member
      () => option({ ...row, sets: (sise) => ({ sise }) }),
      // @ts-expect-error the member takes text
      () => option({ ...row, sets: (name) => ({ name }) }),
      // @ts-expect-error the key is of another module
      () => option({ ...row, key: 'peers.size', sets: 'size' }),
    ]
    expect(wrong).toHaveLength(6)
  })

  it('has a default that the types know', () => {
    const size: number | undefined = option({ ...row, sets: 'size' }).default
    const three: number = option({ ...row, default: 3, sets: 'size' }).default
    expect([size, three]).toEqual([undefined, 3])
  })

  it('is for tuning only where the row says so, also for the types', () => {
    const plain: false = option({ ...row, sets: 'size' }).tuning
    const tuning: true = option({ ...row, tuning: true, sets: 'size' }).tuning
    expect([plain, tuning]).toEqual([false, true])
  })
})
