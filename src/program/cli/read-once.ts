import { statSync } from 'node:fs'
import { readTextFile } from '../../clients/wallet/files.js'

/** Texts of pipes by their paths. */
const read = new Map<string, string>()

/** The text of a file that several parts of a command ask for: a pipe, as of `<(…)` in a shell, and standard input can be read only once. */
export function readTextOnce(path: string, what: string, most?: number): string {
  const known = read.get(path)
  if (known !== undefined) return known
  const text = readTextFile(path, what, most)
  if (path === '-' || statSync(path, { throwIfNoEntry: false })?.isFile() === false) read.set(path, text)
  return text
}
