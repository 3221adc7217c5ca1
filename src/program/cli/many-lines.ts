import { UserError } from '../../base/errors/rule-error.js'

/** A failure with several lines; the message of any other one is shown as a single line, whatever is in it. */
export class ManyLines extends UserError {
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}
