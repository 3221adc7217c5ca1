/** A DID operation as the chain stores it, in texts only (format 3.2, type 0x0a). */
export interface DidOperation {
  readonly specification: string
  /** A name of {@link operationForms}, or one that no chain accepts. */
  readonly operation: string
  /** 64 hex digits in display order; on the wire exactly if the operation is an update. */
  readonly previousTxid?: string
  /** create, update: base64url of the document. deactivate: the DID. */
  readonly payload: string
  /** May be empty. */
  readonly proofType: string
  readonly verificationMethod: string
  /** base64url of 64 bytes. */
  readonly signature: string
}

/** What the name of an operation says of its texts (format 3.2). */
export interface OperationForm {
  /** What it is about; decides which specification strings are accepted. */
  readonly subject: 'did' | 'credential'
  /** What the payload holds: a document or a credential in base64url, or an id as it is. */
  readonly payload: 'document' | 'did' | 'credential' | 'credential-id'
  /** Whether it names the operation before. */
  readonly previousTxid: boolean
  /** Whether tools write out the type of its proof. */
  readonly proofType: boolean
}

export const operationForms = {
  create: { subject: 'did', payload: 'document', previousTxid: false, proofType: true },
  update: { subject: 'did', payload: 'document', previousTxid: true, proofType: true },
  deactivate: { subject: 'did', payload: 'did', previousTxid: false, proofType: false },
  declare: { subject: 'credential', payload: 'credential', previousTxid: false, proofType: true },
  revoke: { subject: 'credential', payload: 'credential-id', previousTxid: false, proofType: true },
} as const satisfies Readonly<Record<string, OperationForm>>

export type OperationName = keyof typeof operationForms

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operationForms, name)
}

/** The form of an operation; undefined for a name that does not exist. */
export function operationForm({ operation }: Pick<DidOperation, 'operation'>): OperationForm | undefined {
  return isOperationName(operation) ? operationForms[operation] : undefined
}

/** Whether it declares or revokes a credential; else it changes a DID. */
export function isAboutCredential(operation: Pick<DidOperation, 'operation'>): boolean {
  return operationForm(operation)?.subject === 'credential'
}

/** The JSON form of an operation, in REST and as input from other tools. */
export interface DidOperationJson {
  header: { specification: string; operation: string; previousTxid?: string }
  payload: string
  proof: { type?: string; verificationMethod: string; signature: string }
}

/** An operation as stored: an empty proof type is omitted, only an update has previousTxid. */
export function operationJson(o: DidOperation): DidOperationJson {
  return {
    header: {
      specification: o.specification,
      operation: o.operation,
      ...(o.previousTxid === undefined ? {} : { previousTxid: o.previousTxid }),
    },
    payload: o.payload,
    proof: {
      ...(o.proofType === '' ? {} : { type: o.proofType }),
      verificationMethod: o.verificationMethod,
      signature: o.signature,
    },
  }
}
