import { Type } from '@sinclair/typebox'
import { option, wholeNumber } from '../runtime/option.js'
import { defaultPortBase, portOffsets } from './serve-node.js'

/** What concerns the whole node and no module alone. */
export const nodeOptions = {
  genesis: option({
    key: 'node.genesis',
    flag: '--genesis <name|file>',
    schema: Type.String({ minLength: 1 }),
    description: 'chain spec: devnet, localnet, pow or a file',
    expects: 'the name of a chain or a file',
    commands: ['start'],
  }),
  portBase: option({
    key: 'node.portBase',
    flag: '--port-base <n>',
    ...wholeNumber(0, 65535 - portOffsets.p2p, 'a port'),
    default: defaultPortBase,
    description: 'REST at n + 4, WebSocket at n + 5, JSON-RPC at n + 6, peers at n + 8; 0 takes free ports',
  }),
  logLevel: option({
    key: 'node.logLevel',
    flag: '--log-level <level>',
    schema: Type.Union((['debug', 'info', 'warn', 'error', 'silent'] as const).map((level) => Type.Literal(level))),
    default: 'warn',
    description: 'what to log on standard error',
    expects: 'one of debug, info, warn, error, silent',
  }),
}
