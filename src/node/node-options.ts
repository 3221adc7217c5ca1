import { Type } from '@sinclair/typebox'
import type { LogLevel } from '../runtime/env.js'
import { optionsFor, wholeNumber } from '../runtime/option.js'
import { defaultLogLevel } from '../runtime/process-env.js'
import { defaultPortBase, portOffsets } from './ports.js'

/** What the options of the whole node set. */
export interface NodeTarget {
  /** Name or file of the chain spec; the command reads it. */
  readonly genesis: string
  /** Every port is this and its offset; 0 takes free ones. */
  readonly portBase: number
  /** Level of the log that the command makes. */
  readonly logLevel: LogLevel
}

const option = optionsFor<'node', NodeTarget>()

/** What concerns the whole node and no module alone. */
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
  logLevel: option({
    key: 'node.logLevel',
    flag: '--log-level <level>',
    schema: Type.Union((['debug', 'info', 'warn', 'error', 'silent'] as const).map((level) => Type.Literal(level))),
    default: defaultLogLevel,
    description: 'what to log on standard error',
    expects: 'one of debug, info, warn, error, silent',
    sets: 'logLevel',
  }),
}
