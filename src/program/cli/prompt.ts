import { writeToTerminal } from '../console/output-channel.js'
import { type ShownText, throughDoor } from '../console/door.js'
import { UserError } from '../../base/errors/rule-error.js'

/** The terminal behind standard input, or one of a test. */
export type Terminal = Pick<NodeJS.ReadStream, 'setRawMode' | 'setEncoding' | 'pause' | 'resume'> & NodeJS.EventEmitter

const keys = {
  cancel: '\u0003',
  end: '\u0004',
  backspace: ['\u007f', '\b'],
  eraseLine: '\u0015',
  eraseWord: '\u0017',
} as const

/** Text of an arrow or function key, or a single Escape; `unfinished`, at the end of a chunk, may go on in the next. */
const escapes = /\u{1b}(?:\[\[[A-E]|\[[0-?]*[ -/]*[@-~]|O[A-DFHP-S])?/gu
const unfinished = /\u{1b}(?:\[\[?[0-?]*[ -/]*|O)?$/u

/**
 * Asks for lines without echo: a function that shows a question on the terminal, never in a file, and returns one line of it. Ctrl-C → {@link
 * UserError}, and so is Ctrl-D in an empty line. Ctrl-U erases the line, Ctrl-W a word; other control characters but the tab are no part of a line. Text behind the end of a
 * line, as of several lines that are pasted at once, is for the next question.
 */
export function hiddenPrompt(
  terminal: () => Terminal,
  show: (text: ShownText) => void = writeToTerminal,
): (question: ShownText) => Promise<string> {
  const typed = new TypedText()
  return async (question) => {
    try {
      return await nextLine(typed, terminal(), () => show(question))
    } finally {
      show(throughDoor('\n'))
    }
  }
}

function nextLine(typed: TypedText, terminal: Terminal, ask: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    let isOpen = true
    const finish = (act: () => void) => {
      if (!isOpen) return
      isOpen = false
      terminal.off('data', take).off('end', gone)
      // A terminal that is gone says so here as well, to `gone`.
      terminal.setRawMode(false)
      terminal.off('error', gone).pause()
      act()
    }
    const gone = () => finish(() => reject(new UserError('cancelled: the terminal is closed')))
    const take = (chunk: string) => {
      typed.add(chunk)
      const line = typed.line()
      if (line === 'cancel') finish(() => reject(new UserError('cancelled')))
      else if (line !== undefined) finish(() => resolve(line.text))
    }
    terminal.setEncoding('utf8')
    terminal.setRawMode(true)
    // An answer that comes at once is not shown.
    ask()
    terminal.on('data', take).on('end', gone).on('error', gone)
    // What was typed ahead may hold the line.
    take('')
    if (isOpen) terminal.resume()
  })
}

/** Characters of a terminal in raw mode, as lines. */
class TypedText {
  /** Not looked at yet. */
  #ahead = ''
  /** Code points of the line that is typed now. */
  #line: string[] = []
  #isAfterReturn = false

  add(chunk: string): void {
    this.#ahead += chunk
  }

  /** The next line; undefined until its end is typed. */
  line(): { readonly text: string } | 'cancel' | undefined {
    const rest = unfinished.exec(this.#ahead)?.[0] ?? ''
    const text = this.#ahead.slice(0, this.#ahead.length - rest.length).replace(escapes, '')
    let length = 0
    for (const character of text) {
      length += character.length
      const ended = this.#ends(character)
      if (ended === undefined) continue
      this.#ahead = text.slice(length) + rest
      return ended
    }
    this.#ahead = rest
    return undefined
  }

  #ends(character: string): { readonly text: string } | 'cancel' | undefined {
    const isSecond = character === '\n' && this.#isAfterReturn
    this.#isAfterReturn = character === '\r'
    if (isSecond) return undefined
    // Ctrl-D in an empty line is the end of the input, as in a shell.
    if (character === keys.cancel || (character === keys.end && this.#line.length === 0)) return 'cancel'
    if (character === '\r' || character === '\n' || character === keys.end) {
      return { text: this.#line.splice(0).join('') }
    }
    this.#edit(character)
    return undefined
  }

  #edit(character: string): void {
    if (character === keys.eraseLine) this.#line = []
    else if (character === keys.eraseWord) this.#line.length = wordStart(this.#line)
    else if (keys.backspace.some((key) => key === character)) this.#line.pop()
    else if (character === '\t' || !/\p{Cc}/u.test(character)) this.#line.push(character)
  }
}

/** Index of the last word of a line. */
function wordStart(line: readonly string[]): number {
  const end = line.findLastIndex((character) => character.trim() !== '')
  return line.slice(0, end + 1).findLastIndex((character) => character.trim() === '') + 1
}
