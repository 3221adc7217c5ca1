import { Type } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import { displayHash } from '../../../base/primitives/bytes.js'
import { closed } from '../schemas/common-schemas.js'
import { count } from '../schemas/number-schemas.js'
import { method, type RpcMethod } from './method.js'

/** @limit s: that one request for a backup waits */
const longestWait = 60

/** Backups of the running node, for its owner on its machine. */
export const backupMethods: readonly RpcMethod[] = [
  method({
    name: 'backup',
    summary:
      'Copies the chain into a new data directory on the machine of the node; call it with the same path until `done`, because it ends with its client.',
    access: 'admin',
    params: Type.Object({
      path: Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'where to: an absolute path of a directory that is absent or empty, in one that exists',
      }),
      seconds: Type.Optional(
        count('how long to wait for the end before the answer', { maximum: longestWait, default: 10 }),
      ),
    }),
    result: closed({
      path: Type.String(),
      done: Type.Boolean({ description: 'whether the backup is complete' }),
      height: Type.Union([count('height of its tip'), Type.Null()]),
      hash: Type.Union([Type.String({ description: 'hash of its tip' }), Type.Null()]),
      rows: count('rows copied so far'),
      bytes: count('their bytes'),
      total: count('about as many bytes will be copied'),
    }),
    run: async ({ backups }, { path, seconds = 10 }, { client, elsewhereRefusal }) => {
      if (elsewhereRefusal !== undefined) throw new RuleError('request-forbidden', `backup: ${elsewhereRefusal}`)
      if (backups === undefined) throw new RuleError('request-action', 'this node makes no backups')
      const { backup, rows, bytes, total } = await backups.follow(path, 1000 * seconds, client.signal)
      return {
        path,
        done: backup !== undefined,
        height: backup?.height ?? null,
        hash: backup === undefined ? null : displayHash(backup.hash),
        rows,
        bytes,
        total,
      }
    },
  }),
]
