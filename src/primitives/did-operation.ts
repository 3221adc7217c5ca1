/** A DID operation as the chain stores it, in texts only (format 3.2, type 0x0a). */
export interface DidOperation {
  readonly specification: string
  /** create, update, deactivate; declare, revoke. */
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
