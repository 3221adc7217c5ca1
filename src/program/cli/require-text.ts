import { UserError } from '../../base/errors/rule-error.js'

/**
 * Returns what a user gave unless it has U+FFFD: a {@link UserError}. Node puts that in the place of bytes that are no UTF-8, from
 * arguments, variables and terminals: it would be signed, or make two passwords the same.
 */
export function requireText(text: string, what: string, exitCode: 1 | 2 = 1): string {
  if (!text.includes('\ufffd')) return text
  throw new UserError(
    `${what} has U+FFFD, which stands for bytes that are no UTF-8; use a terminal that writes UTF-8`,
    exitCode,
  )
}
