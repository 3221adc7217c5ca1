import { Type } from '@sinclair/typebox'
import { option } from '../runtime/option.js'

export const votingOptions = {
  validatorKey: option({
    key: 'voting.validatorKey',
    flag: '--validator-key <file>',
    schema: Type.String({ minLength: 1 }),
    description: 'vote with the private key in this file, which no other user may read and no other node may use',
    expects: 'a file',
    commands: ['start'],
  }),
}
