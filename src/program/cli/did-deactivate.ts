import { NodeClient } from '../../clients/client/node-client.js'
import { deactivateIdentity } from '../../clients/wallet/did-identity.js'
import { defined } from '../../base/primitives/defined.js'
import type { CliContext } from './cli-context.js'
import { controllersOf, currentIdentity } from './current-identity.js'
import { finish, type OperationOptions, specificationOf } from './did-operation.js'
import { keyChoice, type SignOptions } from './key-options.js'
import { accountAndOthers } from './signing-account.js'

export interface DeactivateOptions extends OperationOptions, SignOptions {
  readonly for?: string
}

/** Ends a DID: by a key that its document lists or, of one with a name, by the default key of a controller. */
export async function deactivate(context: CliContext, did: string, options: DeactivateOptions): Promise<void> {
  const client = new NodeClient(options)
  const { document } = (await currentIdentity(client, did)).identity
  const controllers = await controllersOf(client, document)
  const choice = keyChoice(options, document, controllers)
  const specification = await specificationOf(options, 'did', client)
  const { account, accounts } = await accountAndOthers(context, options)
  const signWith = choice(accounts)
  const operation = deactivateIdentity({ account, specification, ...defined({ signWith }), controllers }, document)
  await finish(context, client, account, operation, options, {
    said: `Deactivated ${did}, signed by ${operation.verificationMethod}.`,
    next: `did resolve ${did}`,
  })
}
