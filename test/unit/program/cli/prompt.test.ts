import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { throughDoor } from '../../../../src/program/console/door.js'
import { hiddenPrompt, type Terminal } from '../../../../src/program/cli/prompt.js'

/** A terminal that is typed on by a test, and keeps what comes while it is paused. */
class FakeTerminal extends EventEmitter {
  isRaw = false
  #isPaused = true
  #kept: string[] = []

  setRawMode(raw: boolean): this {
    this.isRaw = raw
    return this
  }

  setEncoding(): this {
    return this
  }

  pause(): this {
    this.#isPaused = true
    return this
  }

  resume(): this {
    this.#isPaused = false
    for (const chunk of this.#kept.splice(0)) this.type(chunk)
    return this
  }

  type(chunk: string): void {
    if (this.#isPaused) this.#kept.push(chunk)
    else this.emit('data', chunk)
  }
}

function prompt() {
  const terminal = new FakeTerminal()
  const shown: string[] = []
  const ask = hiddenPrompt(
    () => terminal as unknown as Terminal,
    (text) => shown.push(text),
  )
  return { terminal, shown, ask: () => ask(throughDoor('Password: ')) }
}

it.each([
  ['a line', ['one\r'], 'one'],
  ['several chunks', ['o', 'n', 'e', '\n'], 'one'],
  ['Ctrl-D as the end of a line', ['one\u0004'], 'one'],
  ['Ctrl-U, which erases the line', ['wrong word\u0015right\r'], 'right'],
  ['Ctrl-W, which erases a word and the spaces behind it', ['one two  \u0017three\r'], 'one three'],
  ['Ctrl-W in the only word', ['one\u0017two\r'], 'two'],
  ['Ctrl-W in an empty line', ['  \u0017\u0017one\r'], 'one'],
  ['backspace, which erases a code point', ['a😀\u007fb\bc\r'], 'ac'],
  ['backspace in an empty line', ['\u007f\u007fa\r'], 'a'],
  ['keys without a character', ['a\u001b[A\u001b[1;5C\u001bOPb\u001b\r'], 'ab'],
  ['a function key of the Linux console', ['a\u001b[[Ab\u001b[[', 'Ec\r'], 'abc'],
  ['Escape before a line that begins with O', ['\u001b', 'Orange\r'], 'Orange'],
  ['such a key in two chunks', ['a\u001b', '[', 'Ab\r'], 'ab'],
  ['Escape before a character', ['\u001b', 'a\r'], 'a'],
  ['control characters, which are no part of a line', ['\0a\u0001\u001ab\u009c\r'], 'ab'],
  ['a tab', ['a\tb\r'], 'a\tb'],
])('reads %s', async (_, chunks, line) => {
  const { terminal, ask, shown } = prompt()
  const asked = ask()
  for (const chunk of chunks) {
    expect(terminal.isRaw).toBe(true)
    terminal.type(chunk)
  }
  expect(await asked).toBe(line)
  expect([terminal.isRaw, shown]).toEqual([false, ['Password: ', '\n']])
})

it.each([
  ['one read', ['one\ntwo\nthree\n']],
  ['one read of Windows', ['one\r\ntwo\r\nthree\r\n']],
  ['parts', ['one\r', '\ntw', 'o\rth', 'ree\r']],
])('keeps what follows a line for the next questions: %s', async (_, chunks) => {
  const { terminal, ask } = prompt()
  for (const chunk of chunks) terminal.type(chunk)
  expect([await ask(), await ask(), await ask()]).toEqual(['one', 'two', 'three'])
  expect(terminal.listenerCount('data')).toBe(0)
})

it('takes an empty line between others for an answer', async () => {
  const { terminal, ask } = prompt()
  terminal.type('one\r\n\r\ntwo\r\n')
  expect([await ask(), await ask(), await ask()]).toEqual(['one', '', 'two'])
})

it.each([
  ['Ctrl-D in an empty line', (terminal: FakeTerminal) => terminal.type('\u0004'), 'cancelled'],
  ['Ctrl-D in a line that was erased', (terminal: FakeTerminal) => terminal.type('on\u0015\u0004'), 'cancelled'],
  ['Ctrl-C', (terminal: FakeTerminal) => terminal.type('on\u0003e\r'), 'cancelled'],
  ['the end of the terminal', (terminal: FakeTerminal) => terminal.emit('end'), 'cancelled: the terminal is closed'],
  [
    'its failure',
    (terminal: FakeTerminal) => terminal.emit('error', new Error('EIO')),
    'cancelled: the terminal is closed',
  ],
])('ends with %s', async (_, act, message) => {
  const { terminal, ask } = prompt()
  const asked = ask()
  act(terminal)
  await expect(asked).rejects.toThrow(message)
  expect([terminal.isRaw, terminal.listenerCount('data')]).toEqual([false, 0])
})
