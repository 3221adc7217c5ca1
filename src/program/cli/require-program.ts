import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'

/** Throws a {@link UserError} unless there is a program at a path, or in a folder of PATH under a name without a slash. */
export function requireProgram(program: string, path: string | undefined): void {
  const isName = !/[/\\]/.test(program)
  const places = isName ? (path ?? '').split(delimiter).map((folder) => join(folder, program)) : [program]
  if (program !== '' && places.some(isProgram)) return
  const where = isName
    ? 'no such program in the folders of PATH; one in this folder is ./NAME'
    : 'no file that may be run'
  throw new UserError(`--exec ${program}: there is ${where}`, 2)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
