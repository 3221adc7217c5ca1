import { Type } from '@sinclair/typebox'
import { type LogLevel, logLevels } from '../base/runtime/env.js'
import { liveChoice, liveChoiceForm } from '../base/runtime/live-log.js'
import { optionsFor, wholeNumber } from '../base/runtime/option.js'
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

const option = optionsFor<'node', NodeTarget>()

/** Options of the whole node and no module alone. */
export const nodeOptions = {
  genesis: option({
    key: 'node.genesis',
    flag: '--genesis <name|file>',
    schema: Type.String({ minLength: 1 }),
    description: 'chain spec: devnet, localnet, pow or a file',
    expects: 'the name of a chain or a file',
    commands: ['start'],
    sets: 'genesis',
  }),
  portBase: option({
    key: 'node.portBase',
    flag: '--port-base <n>',
    ...wholeNumber(0, 65535 - portOffsets.p2p, 'a port'),
    default: defaultPortBase,
    description: 'REST at n + 4, WebSocket at n + 5, JSON-RPC at n + 6, peers at n + 8; 0 takes free ports',
    sets: 'portBase',
  }),
  log: option({
    key: 'node.log',
    flag: '--log <categories>',
    schema: Type.String({ minLength: 1, maxLength: 200 }),
    description:
      'what the live log shows: all, none, or names such as calls,blocks; no-calls leaves out one of the usual (default: calls, ' +
      'transactions, blocks, node on a devnet; blocks, peers, votes, sync, node elsewhere; none with --json)',
    expects: liveChoiceForm,
    check: (text) => liveChoice(text) !== undefined,
    sets: 'log',
  }),
  logFormat: option({
    key: 'node.logFormat',
    flag: '--log-format <format>',
    schema: Type.Union(logFormats.map((format) => Type.Literal(format))),
    description: 'form of the lines of the log (default: text; json with --json)',
    expects: 'one of text, json',
    sets: 'logFormat',
  }),
  logFile: option({
    key: 'node.logFile',
    flag: '--log-file <file>',
    schema: Type.String({ minLength: 1 }),
    description: 'file for the log instead of standard error; SIGHUP opens it again, and at 64 MiB it becomes FILE.1',
    expects: 'the name of a file',
    sets: 'logFile',
  }),
  logLevel: option({
    key: 'node.logLevel',
    flag: '--log-level <level>',
    schema: Type.Union(logLevels.map((level) => Type.Literal(level))),
    default: defaultLogLevel,
    description: 'least level of what is logged beside the live log',
    expects: `one of ${logLevels.join(', ')}`,
    sets: 'logLevel',
  }),
}
