import { Type } from '@sinclair/typebox'
import { type LogLevel, logLevels } from '../base/runtime/env.js'
import { liveChoice, liveChoiceForm } from '../base/runtime/live-log.js'
import { oneOf, optionsFor } from '../base/runtime/option.js'
import { defaultLogLevel } from '../base/runtime/process-env.js'
import { defaultPortBase, portOffsets } from './ports.js'

/** Settings made by the options of the whole node. */
export interface NodeTarget {
  /** Name or file of the chain spec; the command reads it. */
  readonly genesis: string
  /** Every port is this and its offset; 0 takes free ones. */
  readonly portBase: number
  /** Level of the log that the command makes. */
  readonly logLevel: LogLevel
  /** Lines of its live log, as {@link liveChoice} reads them. */
  readonly log: string
  readonly logFormat: LogFormat
  /** File that takes the log instead of standard error. */
  readonly logFile: string
}

/** Forms of the lines of a log. */
const logFormats = ['text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

const lastPortBase = 65535 - portOffsets.p2p
const { option, table } = optionsFor<NodeTarget>()

/** Options of the whole node and no module alone. */
export const nodeOptions = table('node', {
  genesis: option({
    flag: '--genesis <name|file>',
    schema: Type.String({ minLength: 1 }),
    description: 'chain spec: devnet, localnet, pow or a file',
    expects: 'the name of a chain or a file',
    commands: ['start', 'gateway'],
  }),
  portBase: option({
    flag: '--port-base <n>',
    schema: Type.Integer({ minimum: 0, maximum: lastPortBase }),
    expects: `a port from 0 to ${lastPortBase}`,
    default: defaultPortBase,
    description: 'REST at n + 4, WebSocket at n + 5, JSON-RPC at n + 6, peers at n + 8; 0 takes free ports',
  }),
  log: option({
    flag: '--log <categories>',
    schema: Type.String({ minLength: 1, maxLength: 200 }),
    description:
      'what the live log shows: all, none, or names such as calls,blocks; no-calls leaves out one of the usual (default: calls, ' +
      'transactions, blocks, node on a devnet; blocks, peers, votes, sync, node elsewhere; none with --json)',
    expects: liveChoiceForm,
    check: (text) => liveChoice(text) !== undefined,
  }),
  logFormat: option({
    flag: '--log-format <format>',
    ...oneOf(logFormats),
    description: 'form of the lines of the log (default: text; json with --json)',
  }),
  logFile: option({
    flag: '--log-file <file>',
    schema: Type.String({ minLength: 1 }),
    description: 'file for the log instead of standard error; SIGHUP opens it again, and at 64 MiB it becomes FILE.1',
    expects: 'the name of a file',
  }),
  logLevel: option({
    flag: '--log-level <level>',
    ...oneOf(logLevels),
    default: defaultLogLevel,
    description: 'least level of what is logged beside the live log',
  }),
})
