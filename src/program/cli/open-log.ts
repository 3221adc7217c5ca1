import { Console, type LineSink } from '../console/console.js'
import { LogFile, reopenAtHangup } from '../console/log-file.js'
import { nodeLog, type NodeLog } from '../console/node-log.js'
import type { NodeTarget } from '../../node/node-options.js'
import { defaultLogLevel, systemTimers } from '../../base/runtime/process-env.js'
import { type LiveCategory, liveChoice } from '../../base/runtime/live-log.js'
import type { CliContext } from './cli-context.js'
import type { QuietOptions } from './command-options.js'

/** Categories that are shown unless chosen: on a devnet what an app does to it, elsewhere what becomes of the chain. */
const usualOnDevnet: readonly LiveCategory[] = ['calls', 'transactions', 'blocks', 'node']
const usualElsewhere: readonly LiveCategory[] = ['blocks', 'peers', 'votes', 'sync', 'node']

/** The log of a node that a command runs, and the terminal below it. */
export interface OpenLog {
  readonly log: NodeLog
  /** Standard error; absent where only lines of the log belong there. */
  readonly console: Console | undefined
  /** Whether the form of the lines is for programs. */
  readonly json: boolean
  /** Whether nothing is shown but warnings and errors. */
  readonly quiet: boolean
  close(): void
}

/** Opens the log of a node. A file that cannot be opened is a UserError. */
export function openLog(
  context: Pick<CliContext, 'clock' | 'env' | 'errors'>,
  { log: choice, logFormat, logFile, logLevel = defaultLogLevel }: Partial<NodeTarget>,
  { json = false, quiet = false }: QuietOptions,
  devnet: boolean,
): OpenLog {
  const format = logFormat ?? (json ? 'json' : 'text')
  const usual = devnet ? usualOnDevnet : usualElsewhere
  const chosen = choice === undefined ? (json ? [] : usual) : (liveChoice(choice, usual) ?? [])
  const file = logFile === undefined ? undefined : new LogFile(logFile)
  const console = new Console(context.errors())
  const endReopening = file === undefined ? () => {} : reopenAtHangup(file)
  const { clock } = context
  const sink: LineSink = file ?? console
  const shown = quiet ? [] : chosen
  const colours = file === undefined && console.isTerminal && hasColours(context)
  const log = nodeLog({ sink, format, level: logLevel, shown, colours, clock, timers: systemTimers })
  const forPeople = !json && !quiet && (format === 'text' || file !== undefined)
  return {
    log,
    console: forPeople && (!console.isTerminal || steers(context)) ? console : undefined,
    json: format === 'json',
    quiet,
    close: () => {
      log.close()
      endReopening()
      file?.close()
      console.close()
    },
  }
}

/** Standard error of a command that is no node, for its progress; undefined where it shows none. */
export function openConsole(
  context: Pick<CliContext, 'env' | 'errors'>,
  { json = false, quiet = false }: QuietOptions,
): Console | undefined {
  if (json || quiet) return undefined
  const console = new Console(context.errors())
  return !console.isTerminal || steers(context) ? console : undefined
}

/** The log of a command that serves and is no node: warnings and errors as lines of JSON on standard error. */
export function openWarnings(context: Pick<CliContext, 'clock' | 'errors'>): NodeLog {
  const sink = new Console(context.errors())
  const form = { format: 'json', level: defaultLogLevel, shown: [], colours: false } as const
  const log = nodeLog({ sink, ...form, clock: context.clock, timers: systemTimers })
  return {
    ...log,
    close: () => {
      log.close()
      sink.close()
    },
  }
}

/** Whether the terminal takes colours: https://no-color.org. */
function hasColours(context: Pick<CliContext, 'env'>): boolean {
  return steers(context) && context.env['NO_COLOR'] === undefined
}

/** Whether the terminal can clear a line. */
export function steers({ env }: Pick<CliContext, 'env'>): boolean {
  return env['TERM'] !== 'dumb'
}
