import { writeTo } from '../console/output-channel.js'
import { type ShownText, throughDoor } from '../console/door.js'
import { UserError } from '../../base/errors/rule-error.js'

const ctrlC = '\u0003'
const ctrlD = '\u0004'

/** Prompts on standard error and reads one line from the terminal without echo. Ctrl-C → {@link UserError}. */
export function promptHidden(question: ShownText): Promise<string> {
  const { stdin } = process
  return new Promise((resolve, reject) => {
    let line = ''
    const finish = (act: () => void) => {
      stdin.off('data', onData)
      stdin.setRawMode(false)
      stdin.pause()
      writeTo('err', throughDoor('\n'))
      act()
    }
    const onData = (chunk: string) => {
      for (const character of chunk) {
        if (character === '\r' || character === '\n' || character === ctrlD) return finish(() => resolve(line))
        if (character === ctrlC) return finish(() => reject(new UserError('cancelled')))
        if (character === '\u007f' || character === '\b') line = [...line].slice(0, -1).join('')
        else line += character
      }
    }
    writeTo('err', question)
    stdin.setEncoding('utf8')
    stdin.setRawMode(true)
    stdin.resume()
    stdin.on('data', onData)
  })
}
