import { createHash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { makeWithParents } from '../../base/runtime/make-with-parents.js'
import type { CliContext } from './cli-context.js'
import { homeOf } from '../../base/runtime/home-folder.js'
import { userFolder } from './user-folders.js'

/** A script without `import()`, and where code that was compiled of it is kept. */
export interface Compiled {
  /** Path of the script: an expression, the function that Node would make of a module in CommonJS; ASCII. */
  readonly file: string
  /** SHA-256 of the script, hex: code of another one is not run. */
  readonly digest: string
  /** Words of the command line that name the command, of {@link commandOf}: each keeps the functions that it called. */
  readonly command: string
  /** Folder of the kept code; undefined where nothing can be kept. */
  readonly folder: string | undefined
}

/** Groups of commands that share little beside their help. */
const groups = ['chain', 'did', 'node', 'wallet']

/**
 * Name of the command of a command line: `devnet`, or `did-resolve` in a large group; `help` where it begins with no word. A word that names
 * no command counts too: the program refuses it with {@link wrongCall}.
 */
export function commandOf([first = '', second = '']: readonly string[]): string {
  if (!isWord(first)) return 'help'
  return groups.includes(first) && isWord(second) ? `${first}-${second}` : first
}

function isWord(text: string): boolean {
  return /^[a-z]+(-[a-z]+)*$/.test(text)
}

/** Exit code of a command line that the program does not know. */
const wrongCall = 2
/** Bytes of the digest before kept code. */
const digestSize = 32

/**
 * Folder of this user in which compiled code is kept; made where it is missing. Undefined without a home directory, where nothing can be
 * written, and for a user who lends the home directory: what lies in it is run as it is, so that no one else may write there.
 */
export function cacheFolder(env: CliContext['env']): string | undefined {
  try {
    const folder = userFolder('cache', { platform: process.platform, env, home: () => homeOf(env) })
    makeWithParents(folder, 0o700)
    const { uid, mode } = statSync(folder)
    return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0) ? folder : undefined
  } catch {
    return undefined
  }
}

/**
 * Runs a script in this process, from code that an earlier run compiled where it is kept: to compile all of the program takes
 * longer than most commands. Code is written when the process ends, with the functions that were called; the compile cache of Node 22
 * and later has none of those.
 */
export function runCompiled({ file, digest, command, folder }: Compiled): void {
  const node = process.version.split('.')[0]
  const kept = folder === undefined ? undefined : join(folder, `${command}-${node}.code`)
  const cachedData = kept === undefined ? undefined : readKept(kept, digest)
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  })
  if (kept !== undefined && script.cachedDataRejected !== false) {
    // A wrong call may begin with any word: it keeps nothing, or each slip would leave a file.
    process.once('exit', (code) => code === wrongCall || writeKept(kept, digest, script.createCachedData()))
  }
  const own = { exports: {} }
  const run = script.runInThisContext() as (...names: unknown[]) => void
  run.call(own.exports, own.exports, createRequire(file), own, file, dirname(file))
}

/** Kept code of the script with a digest for this Node; undefined where it is missing or damaged, since V8 looks at little of it. */
function readKept(kept: string, digest: string): Buffer | undefined {
  try {
    const bytes = readFileSync(kept)
    const code = bytes.subarray(digestSize)
    return digestOf(digest, code).equals(bytes.subarray(0, digestSize)) ? code : undefined
  } catch {
    return undefined
  }
}

/** Writes code beside its place and moves it there, so that no process reads half of it. */
function writeKept(kept: string, digest: string, code: Buffer): void {
  const written = `${kept}.${process.pid}`
  try {
    writeFileSync(written, Buffer.concat([digestOf(digest, code), code]), { mode: 0o600 })
    renameSync(written, kept)
  } catch {
    // A full disk, say: it is compiled the next time too. What was written of it would stay there.
    rmSync(written, { force: true })
  }
}

/** SHA-256 over the script's digest, version and architecture of Node, and the code. */
function digestOf(script: string, code: Buffer): Buffer {
  return createHash('sha256').update(`${script} ${process.version} ${process.arch}\n`).update(code).digest()
}
