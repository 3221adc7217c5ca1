/**
 * The check of `DidLedgerStatus2026` by docs/credential-status.md, for a verifier that has nothing of this package: JSON-RPC by `fetch`, and JSON.
 */

interface Answer {
  readonly id: string
  readonly status: 0 | 1 | 2 | 3
  readonly transaction?: readonly {
    readonly operation: { readonly header: { operation: string }; readonly payload: string }
  }[]
}

/** Members of a credential that the check reads. */
export interface StatusSubject {
  readonly id?: string
  readonly issuer: string | { readonly id?: string }
  readonly credentialStatus?: { readonly id?: string; readonly type?: string }
}

/** Whether a credential is revoked. Rejects where that is not known, and where its status is not that of its id. */
export async function isRevoked(credential: StatusSubject, rpc: string): Promise<boolean> {
  const { id = '', credentialStatus } = credential
  const issuer = typeof credential.issuer === 'string' ? credential.issuer : credential.issuer.id
  const [, holder, fragment = ''] = /^(did:ledger:\w+)#(.+)$/.exec(id) ?? []
  const expected = `${holder}?credentialStatus=${encodeURIComponent(fragment)}`
  if (credentialStatus?.type !== 'DidLedgerStatus2026') throw new Error('another kind of status')
  if (holder === undefined || credentialStatus.id !== expected) throw new Error('the status of another credential')
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'did_resolveCredential', params: { id, issuer } })
  const response = await fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = (await response.json()) as { result?: Answer; error?: { message: string } }
  if (result?.id !== id) throw new Error(error?.message ?? 'an answer to another question')
  if (result.status === 2) return true
  const declare = result.transaction?.find(({ operation }) => operation.header.operation === 'declare')
  if (declare === undefined) return false
  const declared = JSON.parse(Buffer.from(declare.operation.payload, 'base64url').toString()) as { issuer?: string }
  if ((declared.issuer ?? holder) !== issuer) throw new Error('the id is declared as a credential of another issuer')
  return false
}
