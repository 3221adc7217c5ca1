import { dateForm, parseDate } from './date.js'
import type { KeyForm, W3cDocument, W3cService } from './w3c.js'

/**
 * Options of DID Resolution, and the parameters of a DID URL, which mean the same. Web pages use this file too.
 */

/** Parameters of a request beside the DID. */
export interface ResolutionParameters {
  readonly versionId?: string
  readonly versionTime?: string
  /** A fragment or an absolute id. */
  readonly service?: string
  readonly serviceType?: string
  readonly transformKeys?: KeyForm
}

/** The values that an option can have: some, or texts of a form. */
export interface OptionValues {
  /** JSON Schema. `date-time`: of a day that exists. */
  readonly schema: { readonly enum: readonly (string | boolean)[] } | TextSchema
  /** The values in words. */
  readonly needed: string
}

export interface TextSchema {
  readonly type: 'string'
  readonly pattern: string
  readonly format?: 'date-time'
}

/** Texts of a form. */
export function textOption(needed: string, pattern: string, format: Pick<TextSchema, 'format'> = {}): OptionValues {
  return { schema: { type: 'string', pattern, ...format }, needed }
}

/** Some values. */
export function oneOption(needed: string, ...values: readonly (string | boolean)[]): OptionValues {
  return { schema: { enum: values }, needed }
}

/** Returns what is wrong with a value; undefined: nothing. */
export function optionFault({ schema, needed }: OptionValues, value: unknown): string | undefined {
  const holds = 'enum' in schema ? schema.enum.includes(value as string) : isOfForm(schema, value)
  return holds ? undefined : `${needed} is needed`
}

function isOfForm({ pattern, format }: TextSchema, value: unknown): boolean {
  if (typeof value !== 'string' || !new RegExp(pattern).test(value)) return false
  return format === undefined || parseDate(value) !== undefined
}

/** The specification has texts in ASCII alone. */
const text = textOption('a text of ASCII characters', '^[\\x20-\\x7e]+$')
const flag = oneOption('true or false', true, false, 'true', 'false')

/** The names that lead to a document, with the values that each can have. */
export const resolutionOptions: ReadonlyMap<string, OptionValues> = new Map([
  ['versionId', textOption('the txid of a version in 64 lowercase hex digits', '^[0-9a-f]{64}$')],
  ['versionTime', textOption('a real date YYYY-MM-DDTHH:MM:SSZ', dateForm.source, { format: 'date-time' })],
  ['service', text],
  ['serviceType', text],
  // Both without effect: ids are absolute, and no answer is older than the tip.
  ['expandRelativeUrls', flag],
  ['noCache', flag],
  ['transformKeys', oneOption('Multikey or JsonWebKey', 'Multikey', 'JsonWebKey')],
])

/** A name with its value; the value is undefined where it is no percent-encoded UTF-8. */
export type OptionPair = readonly [name: string, value: string | undefined]

/** The parameters in a query, in order. A plus sign is one. A name that cannot be decoded stays as it is. */
export function queryPairs(query: string): OptionPair[] {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
      return [percentDecoded(name) ?? name, percentDecoded(value)]
    })
}

export function percentDecoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** The services that the parameters select: by fragment or id, absolute or relative, and by type. */
export function selectedServices(
  { id: did, service: services = [] }: W3cDocument,
  { service, serviceType }: Pick<ResolutionParameters, 'service' | 'serviceType'>,
): W3cService[] {
  const ids = [service, `${did}#${service}`, `${did}${service}`]
  return services.filter(
    ({ id, type }) =>
      (service === undefined || ids.includes(id)) && (serviceType === undefined || type === serviceType),
  )
}
