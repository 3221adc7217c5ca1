import { RuleError } from '../../base/errors/rule-error.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { txType } from '../../base/primitives/payload.js'
import type { CurrentIdentity } from '../../clients/wallet/did-identity.js'
import type { DidDocument } from '../../identity/did/model.js'
import { documentOfPayload } from '../../identity/did/known-document.js'
import { didKey, storedDocument } from '../../ledger/storage/rows/did-reader.js'
import type { DevnetParts } from './devnet-parts.js'

/** The state that the next operation of a DID follows: the last one that waits, else the last on the chain. `did-unknown`, `did-deactivated`. */
export function currentIn({ chain, mempool }: Pick<DevnetParts, 'chain' | 'mempool'>, did: string): CurrentIdentity {
  const waiting = [...mempool.entries()].findLast(
    (entry) => entry.did?.id === did && entry.did.credential === undefined,
  )
  const state = waiting?.did?.state ?? chain.state.did(did)
  if (state === undefined) throw new RuleError('did-unknown', `${did} does not exist`)
  if (state.status === 'deactivated') {
    throw new RuleError('did-deactivated', `${did} is deactivated, which is final`)
  }
  const payload = waiting?.transaction.payload
  const document =
    payload?.type === txType.did
      ? documentOfPayload(payload.operation.payload, didMethod)
      : storedDocument(chain.database, didKey(did) as ProgramHash)
  return { document, txid: state.lastTxid }
}

/** The documents on the chain of the controllers of a document that have not ended; a key of theirs counts from its block on. */
export function controllersIn({ chain }: Pick<DevnetParts, 'chain'>, { controllers }: DidDocument): DidDocument[] {
  return controllers
    .filter((did) => chain.state.did(did)?.status === 'valid')
    .map((did) => storedDocument(chain.database, didKey(did) as ProgramHash))
}
