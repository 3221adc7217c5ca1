import { isAboutCredential } from '../../base/primitives/did-operation.js'
import type { Operation } from '../ask/shapes.js'
import { asMembers, documentOf, type Members, payloadObject, textIn } from '../did/payload.js'
import { referredDid } from '../did/referred-did.js'
import { JsonView } from '../parts/json-view.js'
import { Facts, Panel } from '../parts/panel.js'
import { DidName, Expiry, Plain, Reference, TransactionName } from '../parts/values.js'
import { linkTo } from '../route.js'
import { OperationBadge } from './operations.js'

/** The DID operation that a transaction carries, decoded. */

export function OperationPanel({ operation, txid }: { operation: Operation; txid: string }) {
  const { header, proof } = operation
  const previous = header.previousTxid
  const document = documentOf(operation)
  const content = document ?? payloadObject(operation.payload)
  const did = didOf(operation, content)
  const expires = document === undefined ? undefined : textIn(document, 'expires')
  return (
    <Panel title="DID operation">
      <Facts
        rows={[
          ['Operation', <OperationBadge name={header.operation} />],
          ['DID', did === undefined ? undefined : <DidName text={did} whole />],
          ['Credential', credentialOf(operation, content)],
          ['Names as its signer', <Reference text={proof.verificationMethod} />],
          ['Specification', <Plain text={header.specification} />],
          ['Previous', previous === undefined ? undefined : <TransactionName text={previous} whole />],
          ['Expires', expires === undefined ? undefined : <Expiry date={expires} />],
          [
            'Change',
            did === undefined || previous === undefined ? undefined : (
              <a href={linkTo('did', did, { from: previous, to: txid })}>what this update changed</a>
            ),
          ],
        ]}
      />
      {content !== undefined && (
        <details>
          <summary>{document === undefined ? 'Content' : 'Document'}</summary>
          <JsonView value={content} />
        </details>
      )}
    </Panel>
  )
}

/** The DID that an operation is about; of a credential, its holder. */
function didOf({ payload, proof }: Operation, content: Members | undefined): string | undefined {
  const id = content === undefined ? payload : textIn(content, 'id')
  const subject = content === undefined ? undefined : textIn(asMembers(content['credentialSubject']) ?? {}, 'id')
  const texts = [id, subject, proof.verificationMethod]
  for (const text of texts) {
    const did = referredDid(text ?? '')
    if (did !== undefined) return did
  }
  return undefined
}

function credentialOf({ header, payload }: Operation, content: Members | undefined) {
  if (!isAboutCredential(header)) return undefined
  const id = content === undefined ? payload : (textIn(content, 'id') ?? '')
  return <a href={linkTo('credential', id)}>{<Plain text={id} />}</a>
}
