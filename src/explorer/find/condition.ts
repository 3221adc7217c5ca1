/** Conditions of the search for DIDs, put together from rows. Pure. */

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** Kind of condition in a row; `value` is the text of its field, `name` that of a claim or a path. */
interface Kind {
  readonly label: string
  /** Label of a second field before the value. */
  readonly name?: string
  /** Hint in the field; absent: the row has no value. */
  readonly hint?: string
  readonly type?: 'date'
  condition(value: string, name: string): Json
}

/** Claims of a credential that name its subject. */
const nameClaims = ['name', 'alternateName', 'givenName', 'familyName', 'legalName', 'nickname']

/** A text as `$regex` takes it: with `\` before each character of regular expressions. */
function escapedText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** A test for texts that contain the value in any case. */
function containing(value: string) {
  return { $regex: escapedText(value), $options: 'i' }
}

export const kinds = {
  service: {
    label: 'has a service of type',
    hint: 'LinkedDomains',
    condition: (value) => ({ service: { type: value } }),
  },
  servicePart: {
    label: 'has a service whose type contains',
    hint: 'domain',
    condition: (value) => ({ service: { type: containing(value) } }),
  },
  endpoint: {
    label: 'has a service whose endpoint begins with',
    hint: 'https://example.org',
    condition: (value) => ({ service: { serviceEndpoint: { $regex: `^${escapedText(value)}` } } }),
  },
  credential: {
    label: 'has a credential of type',
    hint: 'ProfileCredential',
    condition: (value) => ({ credential: { type: [value] } }),
  },
  named: {
    label: 'has a credential with the name',
    hint: 'Ada Lovelace',
    condition: (value) => ({ $or: nameClaims.map((name) => ({ credential: { subject: { [name]: value } } })) }),
  },
  namePart: {
    label: 'has a credential with a name that contains',
    hint: 'Ada',
    // That a claim is there is in the index: documents without one are not read.
    condition: (value) => ({
      $or: nameClaims.map((name) => {
        return { credential: { subject: { [name]: { $exists: true, ...containing(value) } } } }
      }),
    }),
  },
  issuer: {
    label: 'has a credential issued by',
    hint: 'did:ledger:…',
    condition: (value) => ({ credential: { issuer: value } }),
  },
  claim: {
    label: 'has a claim named',
    hint: 'email',
    condition: (value) => ({ credential: { subject: { [value]: { $exists: true } } } }),
  },
  claimIs: {
    label: 'has a claim that equals',
    name: 'name of the claim',
    hint: 'its value',
    condition: (value, name) => ({ credential: { subject: { [name]: valueOf(value) } } }),
  },
  expiresBefore: {
    label: 'expires before',
    hint: '',
    type: 'date',
    condition: (value) => ({ expires: { $lt: value } }),
  },
  expiresAfter: {
    label: 'expires on or after',
    hint: '',
    type: 'date',
    condition: (value) => ({ expires: { $gte: value } }),
  },
  did: { label: 'is the DID', hint: 'did:ledger:…', condition: (value) => ({ id: value }) },
  controller: {
    label: 'has a key controlled by',
    hint: 'did:ledger:…',
    condition: (value) => ({ publicKey: { controller: value } }),
  },
  path: {
    label: 'has at a path',
    name: 'path, such as service.0.type',
    hint: 'a value',
    condition: (value, name) => ({ [name]: valueOf(value) }),
  },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof kinds

/** A kind by its name, with all members that a kind may have. */
export function kindOf(name: KindName): Kind {
  return kinds[name]
}

export interface ConditionRow {
  readonly kind: KindName
  readonly value: string
  readonly name: string
  readonly negated: boolean
}

/** Whether a row is complete enough for a search. */
export function isComplete({ kind, value, name }: ConditionRow): boolean {
  return value.trim() !== '' && (kindOf(kind).name === undefined || name.trim() !== '')
}

/** The condition of some rows, all of them or any of them; rows that are not complete are left out. None is `{}`: every DID. */
export function conditionOf(rows: readonly ConditionRow[], join: 'all' | 'any'): Json {
  const parts = rows.filter(isComplete).map(({ kind, value, name, negated }) => {
    const condition = kindOf(kind).condition(value.trim(), name.trim())
    return negated ? { $nor: [condition] } : condition
  })
  if (parts.length <= 1) return parts[0] ?? {}
  return { [join === 'all' ? '$and' : '$or']: parts }
}

/** A text, and where it is written as a number, true, false or null, either: most claims are texts. A number that JSON cannot hold is a text. */
function valueOf(text: string): Json {
  if (!/^(-?(0|[1-9]\d*)(\.\d+)?|true|false|null)$/.test(text)) return text
  const value = JSON.parse(text) as Json
  return String(value) === text ? { $in: [value, text] } : text
}
