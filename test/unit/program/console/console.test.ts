import { expect, it } from 'vitest'
import { Console } from '../../../../src/program/console/console.js'

function open(columns?: number) {
  const written: string[] = []
  const state = { takes: true, closed: false }
  const console = new Console({
    columns,
    write: (text) => {
      if (state.takes) written.push(text)
      return state.takes
    },
    close: () => void (state.closed = true),
  })
  return { console, written, state }
}

it('writes lines above the status line', () => {
  const { console, written, state } = open(80)
  console.line('one')
  console.status('height 1')
  console.status('height 1')
  console.line('two')
  console.close()
  expect(written).toEqual(['one\n', '\r\x1b[Kheight 1', '\r\x1b[Ktwo\nheight 1', '\r\x1b[K'])
  expect(state.closed).toBe(true)
})

it('has no status line where there is no terminal', () => {
  const { console, written } = open()
  console.status('height 1')
  console.line('one')
  console.close()
  expect(written).toEqual(['one\n'])
})

it('says when a line was dropped, and draws a status again that was', () => {
  const { console, written, state } = open(10)
  state.takes = false
  expect(console.line('one')).toBe(false)
  console.status('height 1')
  state.takes = true
  expect(console.line('two')).toBe(true)
  console.status('height 1 and more')
  expect(written).toEqual(['two\n', '\r\x1b[Kheight 1 '])
})
