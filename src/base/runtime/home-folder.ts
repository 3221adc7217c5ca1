import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { UserError } from '../errors/rule-error.js'

type Variables = Readonly<Record<string, string | undefined>>

const homeOfUser = () => userInfo().homedir

/** Placeholders of values that are paths, or may be one: `--data-dir <directory>`, `--genesis <name|file>`. */
const pathPlaceholder = /[<[][^\]>]*\b(?:files?|directory|path|socket|target|bundle|program|ticket)\b/

/** Placeholders of keys, each of which may be a file with it, also behind a name: `--validator <name,key>`. */
const keyPlaceholder = /[<[][^\]>]*\bkey\b/

/** Whether an option or argument takes a key or a file with it, by its flag as the help shows it. */
export function takesKey(flag: string): boolean {
  return keyPlaceholder.test(flag)
}

/** Whether an option or argument takes a path, by its flag as the help shows it. */
export function takesPath(flag: string): boolean {
  return pathPlaceholder.test(flag)
}

/**
 * A path whose `~` stands for the home directory: shells leave it as it is behind `=` and in quotes, and neither services nor configuration
 * files have a shell. Any other text is returned unchanged.
 */
export function belowHome(text: string, env: Variables, ofUser = homeOfUser): string {
  const isWindows = process.platform === 'win32'
  const isBelow = text === '~' || text.startsWith('~/') || (isWindows && text.startsWith('~\\'))
  return isBelow ? join(homeOf(env, ofUser, `write ${text} as a whole path`), text.slice(1)) : text
}

/**
 * The home directory: the variable, else the entry of the user. Never a relative path, which would be another directory for each place
 * that a command is started in; without one a {@link UserError} with what to do `instead` of setting the variable.
 */
export function homeOf(env: Variables, ofUser = homeOfUser, instead = 'use --data-dir DIR'): string {
  const variable = process.platform === 'win32' ? 'USERPROFILE' : 'HOME'
  const chosen = env[variable]
  if (chosen !== undefined && isAbsolute(chosen)) return chosen
  try {
    const home = ofUser()
    if (isAbsolute(home)) return home
  } catch {
    // Containers run as users that have no entry.
  }
  const state = chosen === undefined ? 'is not set' : `is ${chosen}, which is no absolute path`
  throw new UserError(`${variable} ${state}, and this user has no home directory; set it, or ${instead}`)
}
