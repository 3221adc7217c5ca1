import { Type } from '@sinclair/typebox'
import { RuleError } from '../../errors/rule-error.js'
import type { LogLevel } from '../../runtime/env.js'
import { oneOf } from '../schemas/common-schemas.js'
import { method, type RpcMethod } from './method.js'

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

/** Methods for the owner of the node alone. */
export const adminMethods: readonly RpcMethod[] = [
  method({
    name: 'setloglevel',
    summary: 'Chooses what the node logs from now on, until it stops.',
    access: 'admin',
    params: Type.Object({ level: oneOf(levels, `one of ${levels.join(', ')}`) }),
    result: oneOf(levels, 'the same level'),
    run: ({ log }, { level }) => {
      if (log.setLevel === undefined) throw new RuleError('request-action', 'the log of this node has no levels')
      log.setLevel(level)
      return level
    },
  }),
]
