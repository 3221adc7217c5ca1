import { fstatSync, statSync } from 'node:fs'
import { UserError } from '../../base/errors/rule-error.js'
import { replaceFile } from '../../ledger/storage/replace-file.js'
import { onFile } from '../../node/on-file.js'
import { writeFileAtomically } from '../../clients/wallet/files.js'
import type { CliContext } from './cli-context.js'
import { shellWord } from './print-output.js'

/**
 * Writes bytes to a file that the caller names, `-` being standard output. Returns the context for the words of the command, which
 * are on standard error where the bytes are on standard output.
 */
export async function writeOutput(
  context: CliContext,
  file: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<CliContext> {
  const isOutput = isStandardOutput(file)
  if (isOutput && context.columns('out') !== undefined) {
    throw new UserError(`${file}: a terminal shows no such bytes: name a file, or pass them on to a program`, 2)
  }
  await onFile(file, () => (isOutput ? writeAll(context, pieces) : replaceFile(file, pieces, 0o666)))
  return wordsBeside(context, file)
}

/**
 * Writes a text to a file that the caller names, `-` being standard output; an existing file is a {@link UserError} without `replace`. Returns
 * the context for the words of the command, as {@link writeOutput} does.
 */
export function writeText(
  context: CliContext,
  file: string,
  text: string,
  options: { readonly mode: number; readonly replace?: boolean },
): CliContext {
  if (isStandardOutput(file)) context.out(text)
  else writeFileAtomically(file, text, options)
  return wordsBeside(context, file)
}

/** The context for the words of a command that writes a file. */
export function wordsBeside(context: CliContext, file: string): CliContext {
  return isStandardOutput(file) ? { ...context, out: context.err } : context
}

/** A file that the caller names, in words. */
export function shownFile(file: string): string {
  return isStandardOutput(file) ? 'standard output' : file
}

/** A file that a command wrote, as an argument of the next one: `-` in a pipe. */
export function fileWord(file: string): string {
  return isStandardOutput(file) ? '-' : shellWord(file)
}

/** The path of a file that the caller names, `-` being standard input. */
export function inputPath(file: string): string {
  return file === '-' ? '/dev/stdin' : file
}

async function writeAll({ bytes }: CliContext, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) await bytes(piece)
}

/** Whether a path is `-`, or leads to the file or pipe that is standard output, as /dev/stdout does. */
export function isStandardOutput(path: string): boolean {
  if (path === '-') return true
  try {
    const [named, output] = [statSync(path), fstatSync(1)]
    // Systems without such numbers have 0.
    return output.ino !== 0 && named.dev === output.dev && named.ino === output.ino
  } catch {
    // It is not there, or writing it says what is wrong.
    return false
  }
}
