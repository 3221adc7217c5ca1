import { Type } from '@sinclair/typebox'
import { optionsFor } from '../base/runtime/option.js'

/** Settings made by the options of the vote. */
export interface VotingTarget {
  /** File with the private key that votes; the command reads it. */
  readonly keyFile: string
  /** Path of the socket of a signer that has the key. */
  readonly signer: string
}

const { option, table } = optionsFor<VotingTarget>(['start'])

export const votingOptions = table('voting', {
  validatorKey: option('keyFile', {
    flag: '--validator-key <file>',
    schema: Type.String({ minLength: 1 }),
    description: 'vote with the private key in this file, which no other user may read and no other node may use',
    expects: 'a file',
  }),
  validatorSigner: option('signer', {
    flag: '--validator-signer <socket>',
    schema: Type.String({ minLength: 1 }),
    description: 'vote with a key that "didledger signer" has behind this socket',
    expects: 'the path of a socket',
  }),
})
