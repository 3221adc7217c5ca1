import { Command, CommanderError } from 'commander'
import { NodeRefusal } from '../../clients/client/http.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { failureSentence } from '../../clients/light/failure-texts.js'
import { LightError } from '../../clients/light/light-error.js'
import { refusalOf } from '../../ledger/storage/failure.js'
import { type CliContext, contextIn, type EvaluationContext } from './cli-context.js'
import { expandHome } from './expand-home.js'
import { Interrupted } from './interrupted.js'
import { ManyLines } from './many-lines.js'
import { linesText } from './print-output.js'
import { requireText } from './require-text.js'
import { SilentExit } from './silent-exit.js'
import { usageMessage, usageText } from './usage-text.js'
import { asksVersion, versionText } from './version-text.js'

/** Commands and groups of them by their first word, in the order of the help. Each is loaded when a command line names it. */
const groups = {
  devnet: async () => (await import('./devnet-command.js')).registerDevnet,
  start: async () => (await import('./start-command.js')).registerStart,
  gateway: async () => (await import('./gateway-command.js')).registerGateway,
  signer: async () => (await import('./signer-command.js')).registerSigner,
  node: async () => (await import('./node-command.js')).registerNode,
  driver: async () => (await import('./driver-command.js')).registerDriver,
  light: async () => (await import('./light-command.js')).registerLight,
  witness: async () => (await import('./witness-command.js')).registerWitness,
  watch: async () => (await import('./watch-command.js')).registerWatch,
  registrar: async () => (await import('./registrar-command.js')).registerRegistrar,
  mirror: async () => (await import('./mirror-command.js')).registerMirror,
  'serve-static': async () => (await import('./serve-static-command.js')).registerServeStatic,
  wallet: async () => (await import('./wallet-command.js')).registerWallet,
  did: async () => (await import('./did-command.js')).registerDid,
  chain: async () => (await import('./chain-command.js')).registerChain,
  ship: async () => (await import('./ship-command.js')).registerShip,
  genesis: async () => (await import('./genesis-command.js')).registerGenesis,
  completion: async () => (await import('./completion-command.js')).registerCompletion,
}

/**
 * The command tree, arguments not parsed yet: with all commands, or with what a command line whose first word is `first` needs. What it says of
 * a wrong call goes to `sayWrong`.
 */
export async function createProgram(
  context: CliContext,
  first?: string,
  sayWrong: (text: string) => void = (text) => context.err(text),
): Promise<Command> {
  const program = new Command('didledger')
    .description('a lightweight identity chain: node, wallet, DIDs')
    .version(versionText())
    .configureOutput({
      writeOut: (text) => context.out(text),
      writeErr: sayWrong,
      outputError: (text, write) => write(usageText(text)),
    })
    .exitOverride()
    .showHelpAfterError('(--help shows how the command is used)')
  for (const register of await Promise.all(groupsOf(first).map((load) => load()))) register(program, context)
  expandHome(program, context.env)
  return program
}

/** Groups that a first word needs; completions, the help and its suggestions show all. */
function groupsOf(first: string | undefined): readonly (typeof groups)[keyof typeof groups][] {
  if (first !== undefined && asksVersion([first])) return []
  const all = Object.entries(groups)
  const named = all.filter(([name]) => name === first && name !== 'completion')
  return (named.length > 0 ? named : all).map(([, load]) => load)
}

/** Runs one command line (without node and script) and returns its exit code: 0 done, 1 failed, 2 usage error. */
export async function runCommand(args: readonly string[], surroundings: EvaluationContext): Promise<0 | 1 | 2> {
  const context = contextIn(surroundings)
  const json = args.includes('--json')
  const said: string[] = []
  try {
    const program = await createProgram(context, args[0], json ? (text) => said.push(text) : undefined)
    for (const [i, word] of args.entries()) requireText(word, `argument ${i + 1} (${word})`, 2)
    requireKnownHelp(program, args)
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof SilentExit) return 1
    if (!(error instanceof CommanderError)) return ended(error, explain(error, json, context))
    // Help and version end this way too.
    if (error.exitCode === 0) return 0
    // commander has printed its own message, or else said it here first.
    return json ? explain(new UserError(usageMessage(said[0] ?? error.message), 2), json, context) : 2
  }
}

/** The exit code of a failure; one by a signal ends the process as that signal does, though what it waited for is under way. */
function ended(error: unknown, code: 1 | 2): 1 | 2 {
  if (error instanceof Interrupted) process.kill(process.pid, error.signal)
  return code
}

/** Prints a failure that no command waits for, with its stack. */
export function sayFailure(error: unknown, args: readonly string[], surroundings: EvaluationContext): void {
  const json = args.includes('--json')
  const env = json || error instanceof UserError ? surroundings.env : { ...surroundings.env, DEBUG: 'didledger' }
  explain(error, json, contextIn({ ...surroundings, env }))
}

/** Refuses `help` on what is no command, for which commander shows the help of all. */
function requireKnownHelp(program: Command, args: readonly string[]): void {
  let command = program
  for (const [i, word] of args.entries()) {
    // Where no command follows, the word is an argument, as in "node call help".
    if (word === 'help' && command.commands.length > 0) {
      const asked = args[i + 1]
      if (asked === undefined || asked.startsWith('-')) return
      if (command.commands.some((known) => known.name() === asked)) return
      const names = command.commands.map((known) => known.name()).join(', ')
      throw new UserError(`there is no command ${asked} to help with; there are ${names}`, 2)
    }
    const next = command.commands.find((known) => known.name() === word)
    if (next === undefined) return
    command = next
  }
}

/** Prints a failure as text or JSON, in this one place: no stack trace unless DEBUG contains didledger. */
function explain(error: unknown, json: boolean, context: CliContext): 1 | 2 {
  const refusal = error instanceof UserError ? undefined : refusalOf(error)
  const cause = error instanceof LightError ? failureSentence(error) : textOf(error)
  const message = refusal === undefined ? cause : `${refusal.what} (${cause}); ${refusal.advice}`
  const known = error instanceof UserError || refusal !== undefined
  const code = error instanceof RuleError ? error.code : error instanceof LightError ? error.failure : undefined
  const lines =
    code !== undefined
      ? [`error: ${message} (${code})`]
      : known
        ? [`error: ${message}`]
        : [
            `error: something went wrong that should not have: ${message}`,
            'DEBUG=didledger shows where; please report it.',
          ]
  if (json) context.err(`${JSON.stringify({ error: { ...detailsOf(error), message } }, null, 2)}\n`)
  else
    context.err(linesText(error instanceof ManyLines ? [`error: ${error.lines[0]}`, ...error.lines.slice(1)] : lines))
  if (context.env['DEBUG']?.includes('didledger') && error instanceof Error) {
    context.err(linesText(framesOf(error)))
  }
  return error instanceof UserError ? error.exitCode : 1
}

/** The stack of an error below its message, which may hold lines like those of a stack. */
function framesOf({ stack = '', message }: Error): string[] {
  const lines = stack.slice(stack.indexOf(message) + message.length).split('\n')
  return lines.filter((line) => /^ +at /.test(line))
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Members of the JSON error beside its message. */
function detailsOf(error: unknown): Record<string, unknown> {
  if (error instanceof RuleError) return { code: error.code }
  if (error instanceof LightError) {
    const { failure: code, failures, evidence } = error
    return { code, failures, evidence }
  }
  if (!(error instanceof NodeRefusal)) return {}
  return { code: error.code, description: error.description, reason: error.reason }
}
