import { startChild } from './children.js'
import { stopwatch } from './patience.js'

/**
 * Environment of a user's terminal: without the variables that npm and vitest set for their children, but with the certificates of a proxy.
 */
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_(?!EXTRA_CA_CERTS$)|VITEST|TEST$)/i.test(name)),
  ),
  npm_config_loglevel: 'error',
  npm_config_update_notifier: 'false',
}

/** Runs a program such as npm in a directory, as a user would; its output, and the milliseconds it took. Another exit code than 0 throws. */
export function runTool(
  cwd: string,
  command: string,
  ...args: string[]
): Promise<{ out: string; err: string; took: number }> {
  return runToolWith({}, cwd, command, ...args)
}

/** {@link runTool} with further variables of the environment. */
export async function runToolWith(
  variables: Readonly<Record<string, string>>,
  cwd: string,
  command: string,
  ...args: string[]
): Promise<{ out: string; err: string; took: number }> {
  const elapsed = stopwatch()
  const env = { ...environment, ...variables }
  const child = startChild(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${err}${out}`)
  return { out, err, took: elapsed() }
}
