/** A DID operation as the chain stores it, in texts only (format 3.2, type 0x0a). */
export interface DidOperation {
  readonly specification: string
  /** A name of {@link operationForms}, or one that no chain accepts. */
  readonly operation: string
  /** 64 hex digits in display order; on the wire exactly if its form has `previousTxid`. */
  readonly previousTxid?: string
  /** base64url of a ticket; on the wire exactly if its form has one. */
  readonly ticket?: string
  /** Content by `payload` of its form: base64url of a document or a credential, or an id as it is. */
  readonly payload: string
  /** May be empty. */
  readonly proofType: string
  readonly verificationMethod: string
  /** base64url of 64 bytes. */
  readonly signature: string
}

/** State of a DID or credential after an operation: it has that document, it is that credential, or it has ended for ever. */
export type OperationEffect = 'document' | 'credential' | 'end'

/** Everything that the name of an operation decides but its rules (format 3.2, 9). */
export interface OperationForm {
  /** Its number in histories, from which proofs and rows are made: one byte. */
  readonly number: number
  /** Decides which specification strings are accepted, and which history it belongs to. */
  readonly subject: 'did' | 'credential'
  readonly effect: OperationEffect
  /** Effects of the operation directly before it in its history; `nothing`: it can be the first one. */
  readonly after: readonly (OperationEffect | 'nothing')[]
  /** Content of the payload: a document or a credential in base64url, or an id as it is. */
  readonly payload: 'document' | 'did' | 'credential' | 'credential-id'
  /** Whether it names the operation before. */
  readonly previousTxid: boolean
  /** Whether it carries a ticket, by which the controllers before give the DID away. */
  readonly ticket: boolean
  /** The DID in whose name an operation on a credential is made: that of the signing key, or the holder. */
  readonly inNameOf: 'signer' | 'holder'
  /** Document whose authentication keys sign: its own, or the last one of the DID that signs. */
  readonly signedIn: 'payload' | 'before'
  /** Whether keys sign too that this document lists under authorization. */
  readonly authorised: boolean
  /** Whether tools write out the type of its proof. */
  readonly proofType: boolean
}

/** Members of most forms. */
const usual = {
  previousTxid: false,
  ticket: false,
  inNameOf: 'signer',
  signedIn: 'before',
  authorised: false,
  proofType: true,
} as const

export const operationForms = {
  create: {
    ...usual,
    number: 1,
    subject: 'did',
    effect: 'document',
    after: ['nothing'],
    payload: 'document',
    signedIn: 'payload',
  },
  update: {
    ...usual,
    number: 2,
    subject: 'did',
    effect: 'document',
    after: ['document'],
    payload: 'document',
    previousTxid: true,
  },
  deactivate: {
    ...usual,
    number: 3,
    subject: 'did',
    effect: 'end',
    after: ['document'],
    payload: 'did',
    authorised: true,
    proofType: false,
  },
  declare: {
    ...usual,
    number: 4,
    subject: 'credential',
    effect: 'credential',
    after: ['nothing'],
    payload: 'credential',
    inNameOf: 'holder',
  },
  revoke: {
    ...usual,
    number: 5,
    subject: 'credential',
    effect: 'end',
    after: ['nothing', 'credential'],
    payload: 'credential-id',
  },
  transfer: {
    ...usual,
    number: 6,
    subject: 'did',
    effect: 'document',
    after: ['document'],
    payload: 'document',
    ticket: true,
    signedIn: 'payload',
  },
} as const satisfies Readonly<Record<string, OperationForm>>

export type OperationName = keyof typeof operationForms
export type OperationNumber = (typeof operationForms)[OperationName]['number']

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operationForms, name)
}

/** The form of an operation; undefined for a name that does not exist. */
export function operationForm({ operation }: Pick<DidOperation, 'operation'>): OperationForm | undefined {
  return isOperationName(operation) ? operationForms[operation] : undefined
}

const formsByNumber = new Map<number, OperationForm>(Object.values(operationForms).map((form) => [form.number, form]))

/** The form of the operation with a number; undefined for a number that no operation has. */
export function formOfNumber(number: number): OperationForm | undefined {
  return formsByNumber.get(number)
}

/** The name of the operation with a number. */
export function nameOfNumber(number: OperationNumber): OperationName {
  const names = Object.keys(operationForms) as OperationName[]
  return names.find((name) => operationForms[name].number === number) as OperationName
}

/** Whether an operation can stand directly after another one of its history; `before` undefined: whether it can be the first. */
export function canFollow(form: OperationForm, before: OperationForm | undefined): boolean {
  return form.after.includes(before?.effect ?? 'nothing')
}

/** Effect of an operation; undefined for a name that does not exist. */
export function effectOf(operation: Pick<DidOperation, 'operation'>): OperationEffect | undefined {
  return operationForm(operation)?.effect
}

/** Whether it declares or revokes a credential; else it changes a DID. */
export function isAboutCredential(operation: Pick<DidOperation, 'operation'>): boolean {
  return operationForm(operation)?.subject === 'credential'
}

/** The JSON form of an operation, in REST and as input from other tools. */
export interface DidOperationJson {
  header: { specification: string; operation: string; previousTxid?: string; ticket?: string }
  payload: string
  proof: { type?: string; verificationMethod: string; signature: string }
}

/** An operation as stored: an empty proof type is omitted, previousTxid and ticket are there exactly if its form has them. */
export function operationJson(o: DidOperation): DidOperationJson {
  return {
    header: {
      specification: o.specification,
      operation: o.operation,
      ...(o.previousTxid === undefined ? {} : { previousTxid: o.previousTxid }),
      ...(o.ticket === undefined ? {} : { ticket: o.ticket }),
    },
    payload: o.payload,
    proof: {
      ...(o.proofType === '' ? {} : { type: o.proofType }),
      verificationMethod: o.verificationMethod,
      signature: o.signature,
    },
  }
}
