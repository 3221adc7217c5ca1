import { Type } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import { hex, toHex } from '../../../base/primitives/bytes.js'
import { type Log, logLevels } from '../../../base/runtime/env.js'
import { liveChoice, liveChoiceForm } from '../../../base/runtime/live-log.js'
import { closed, hash, hashParam, oneOf, orNull } from '../schemas/common-schemas.js'
import { tokenProof } from '../http/token-proof.js'
import { method, type RpcMethod } from './method.js'

const levelForm = `one of ${logLevels.join(', ')}`

/** Methods for the owner of the node, and how a program finds out that it talks to the node of the token that it has. */
export const adminMethods: readonly RpcMethod[] = [
  method({
    name: 'provetoken',
    summary: 'Proves that the node has a token, without telling it, and on the same machine where its file is.',
    access: 'control',
    params: Type.Object({ nonce: hashParam('32 random bytes in hex') }),
    result: closed({
      proof: hash('HMAC-SHA256 under the token, of the nonce and the address and port that the request reached'),
      datadir: orNull(
        Type.String({ description: 'the data directory, which has the token in the file admin.token' }),
        'null: the request comes from elsewhere, or through a proxy',
      ),
    }),
    run: ({ adminToken, dataDir }, { nonce }, { place, strangerRefusal }) => {
      if (adminToken === undefined) throw new RuleError('request-action', 'this node has no admin token')
      const proof = toHex(tokenProof(adminToken, hex(nonce.toLowerCase()), place))
      return { proof, datadir: (strangerRefusal === undefined ? dataDir : undefined) ?? null }
    },
  }),
  method({
    name: 'stop',
    summary: 'Stops the node once it has answered; what it knows is on disk.',
    access: 'admin',
    result: Type.Literal(true),
    run: ({ stop, log }) => {
      if (stop === undefined) throw new RuleError('request-action', 'the program that runs this node has to stop it')
      log.info({}, 'the owner stops the node')
      stop()
      return true
    },
  }),
  method({
    name: 'setloglevel',
    summary:
      'Chooses what the node logs from now on, until it stops: the least level, what the live log shows, or both.',
    access: 'admin',
    params: Type.Object({
      level: Type.Optional(oneOf(logLevels, `${levelForm}; absent: as it is`)),
      categories: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: `of the live log, as in --log: ${liveChoiceForm}; absent: as it is`,
        }),
      ),
    }),
    result: oneOf(logLevels, 'the level'),
    run: ({ log }, { level, categories }) => {
      if (level === undefined && categories === undefined) {
        throw new RuleError('request-parameter', `level: ${levelForm}; or categories`)
      }
      if (log.setLevel === undefined) throw new RuleError('request-action', 'the log of this node has no levels')
      const shown = categories === undefined ? undefined : shownBy(log, categories)
      if (level !== undefined) log.setLevel(level)
      if (shown !== undefined) log.live?.show(shown)
      return level ?? log.level ?? 'warn'
    },
  }),
]

/** Categories of a choice; `no-…` takes from those shown now. */
function shownBy({ live }: Pick<Log, 'live'>, categories: string) {
  const shown = liveChoice(categories, live?.shown ?? [])
  if (shown === undefined) throw new RuleError('request-parameter', `categories: ${liveChoiceForm}`)
  if (live === undefined) throw new RuleError('request-action', 'this node has no live log')
  return shown
}
