import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Console } from '../../../../src/program/console/console.js'
import { Progress, stepLine } from '../../../../src/program/console/progress.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function open(columns?: number) {
  let printed = ''
  const write = (text: string) => {
    printed += text
    return true
  }
  const console = new Console({ columns, write, close: () => {} })
  return { console, taken: () => printed }
}

const work = { stage: 'blocks', unit: 'blocks', total: 900 }

describe('the progress of work', () => {
  it('is the status line of a terminal, twice a second at most', () => {
    const { console, taken } = open(100)
    const progress = new Progress(console)
    progress.show({ ...work, done: 0 })
    expect(taken()).toBe('')
    for (let done = 1; done <= 10; done++) {
      vi.advanceTimersByTime(100)
      progress.show({ ...work, done })
    }
    expect(taken()).toBe(`\r\x1b[K${stepLine({ ...work, done: 5 }, 0)}\r\x1b[K${stepLine({ ...work, done: 10 }, 10)}`)
    progress.end()
    expect(taken()).toMatch(/left\r\x1b\[K$/)
  })

  it('is a line every ten seconds elsewhere', () => {
    const { console, taken } = open()
    const progress = new Progress(console)
    for (let done = 0; done <= 230; done += 10) {
      progress.show({ ...work, done })
      vi.advanceTimersByTime(1000)
    }
    progress.end()
    expect(taken()).toBe(`${stepLine({ ...work, done: 100 }, 10)}\n${stepLine({ ...work, done: 200 }, 10)}\n`)
  })

  it('is a line of a log where one is given', () => {
    const said: number[] = []
    const progress = new Progress(undefined, ({ done }) => said.push(done))
    for (let done = 0; done < 30; done++) {
      progress.show({ ...work, done })
      vi.advanceTimersByTime(1000)
    }
    expect(said).toEqual([10, 20])
  })
})

describe('its line', () => {
  it.each([
    [{ ...work, done: 120 }, 34.52, 'blocks  [###---------------------] 120 of 900, 34.5 blocks/s, 23 s left'],
    [{ ...work, done: 900 }, 0, `blocks  [${'#'.repeat(24)}] 900 of 900`],
    [{ stage: 'rows', unit: 'rows', done: 7 }, 12_345.6, 'rows    7 rows, 12346 rows/s'],
  ])('tells %j', (step, rate, line) => expect(stepLine(step, rate)).toBe(line))
})
