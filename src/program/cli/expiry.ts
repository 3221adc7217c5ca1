import { type Command, InvalidArgumentError, Option } from 'commander'
import type { NodeClient } from '../../clients/client/node-client.js'
import { addYears, formatDate, parseDate } from '../../identity/did/date.js'
import { UserError } from '../../base/errors/rule-error.js'
import type { Clock } from '../../base/runtime/env.js'
import { wholeOption } from './command-options.js'

export interface ExpiryOptions {
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires?: string
  readonly years?: number
  readonly force?: boolean
}

/**
 * The same limit as in other tools of the family.
 * @limit years: validity of a DID without `--force`
 */
const maxYears = 5

export function withExpiry(command: Command, byDefault: string): Command {
  return command
    .addOption(
      new Option('--expires <date>', 'last moment of validity: YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ')
        .argParser(dateOption)
        .conflicts('years'),
    )
    .addOption(new Option('--years <n>', `valid for so many years from now (${byDefault})`).argParser(yearsOption))
    .option('--force', `allow an expiry in the past or more than ${maxYears} years ahead`)
}

function dateOption(text: string): string {
  const full = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
  if (parseDate(full) === undefined) {
    throw new InvalidArgumentError('Not a date such as 2030-12-31 or 2030-12-31T23:59:59Z.')
  }
  return full
}

const yearsOption = wholeOption(1, 999, 'Not a number of years from 1 to 999.')

/**
 * The expiry of a document made `now` (Unix seconds): by the options, else five years ahead. Past or further ahead → {@link UserError},
 * unless forced: the chain would accept it, but it is probably a mistake.
 */
export function newExpiry({ expires, years = maxYears, force }: ExpiryOptions, now: number): string {
  const text = expires ?? formatDate(addYears(now, years))
  const seconds = parseDate(text) ?? 0
  if (!force && isPast(text, now)) throw new UserError(`the expiry ${text} is in the past (--force allows it)`, 2)
  if (!force && seconds > addYears(now, maxYears)) {
    throw new UserError(`the expiry ${text} is more than ${maxYears} years ahead (--force allows it)`, 2)
  }
  return text
}

/** Whether a document with this expiry is expired at `now` (Unix seconds). */
export function isPast(expires: string, now: number): boolean {
  return (parseDate(expires) ?? 0) <= now
}

/** {@link newExpiry} if the options name one; undefined if the document keeps its expiry. */
export function changedExpiry(options: ExpiryOptions, now: number): string | undefined {
  return options.expires === undefined && options.years === undefined ? undefined : newExpiry(options, now)
}

/** Current Unix seconds: the latest of this machine's clock, the node's last block, and a devnet's own clock. */
export async function chainNow(clock: Clock, client: NodeClient | undefined): Promise<number> {
  const local = Math.floor(clock.now() / 1000)
  if (client === undefined) return local
  const [{ time }, devnetTime] = await Promise.all([
    client.height().then((height) => client.blockAt(height)),
    client.devnetTime(),
  ])
  return Math.max(local, time, devnetTime ?? 0)
}
