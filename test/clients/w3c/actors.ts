import { authenticationKey, authorizationKey, type Holder, holder } from '../../support/builders/did.js'
import { type QuickSigner, quickSigner } from '../../support/builders/signatures.js'
import { createNamed, named, namedDocument } from '../../support/builders/named-did.js'
import { NodeProcess } from '../../support/process/spawn.js'
import { type DidOperation, operationJson } from '../../../src/base/primitives/did-operation.js'
import { publish } from '../support/publish.js'

/** DIDs on a devnet of their own, and keys of them. */
export interface Actors {
  readonly node: NodeProcess
  /** With every kind of key. */
  readonly ada: Holder
  /** Of `ada`, for authentication. */
  readonly second: QuickSigner
  /** Of `ada`, under `authorization`: it may deactivate her DID, and do nothing else. */
  readonly delegate: QuickSigner
  /** Of `ada`, under `publicKey` alone. */
  readonly unused: QuickSigner
  /** One whose document has expired. */
  readonly late: Holder
  readonly deactivated: Holder
  /** A DID with a name that `ada` controls, and its own key. */
  readonly shop: { readonly did: string; readonly key: QuickSigner }
}

export async function startActors(): Promise<Actors> {
  const node = await NodeProcess.start('devnet')
  const send = (operation: DidOperation) => publish(node, JSON.stringify(operationJson(operation)))
  const [ada, friend, late, deactivated] = [holder(), holder(), holder(), holder()]
  const [second, delegate, unused] = [quickSigner(), quickSigner(), quickSigner()]
  await send(friend.create())
  const keys = [
    ...ada.plan.keys,
    authenticationKey('second', second),
    authorizationKey('delegate', delegate, friend.did),
    { fragment: 'unused', publicKey: unused.publicKey, use: 'none' as const },
  ]
  await send(ada.create({ keys }))
  await send(late.create({ expires: '2026-02-01T00:00:00Z' }))
  await send(deactivated.create())
  await send(deactivated.deactivate())
  const shop = { did: named('shop'), key: quickSigner() }
  const plan = { keys: [authenticationKey('own', shop.key)] }
  await send(createNamed(namedDocument('shop', { by: [ada], plan }), ada))
  return { node, ada, second, delegate, unused, late, deactivated, shop }
}
