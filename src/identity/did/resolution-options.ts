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
export type OptionValues = {
  /** In words. */
  readonly needed: string
} & (
  | { readonly values: readonly (string | boolean)[]; readonly form?: never; readonly isDate?: never }
  | {
      readonly values?: never
      /** Pattern of the texts. */
      readonly form: string
      /** Whether the day of a text has to exist. */
      readonly isDate?: boolean
    }
)

/** Returns what is wrong with a value; undefined: nothing. */
export function optionFault({ needed, values, form = '', isDate }: OptionValues, value: unknown): string | undefined {
  const isText =
    typeof value === 'string' && new RegExp(form).test(value) && !(isDate && parseDate(value) === undefined)
  return (values?.includes(value as string) ?? isText) ? undefined : `${needed} is needed`
}

/** The specification has texts in ASCII alone. */
const text = { needed: 'a text of ASCII characters', form: '^[\\x20-\\x7e]+$' }
const flag = { needed: 'true or false', values: [true, false, 'true', 'false'] }

/** The names that lead to a document, with the values that each can have. */
export const resolutionOptions: ReadonlyMap<string, OptionValues> = new Map<string, OptionValues>([
  ['versionId', { needed: 'the txid of a version in 64 lowercase hex digits', form: '^[0-9a-f]{64}$' }],
  ['versionTime', { needed: 'a real date YYYY-MM-DDTHH:MM:SSZ', form: dateForm.source, isDate: true }],
  ['service', text],
  ['serviceType', text],
  // Both without effect: ids are absolute, and no answer is older than the tip.
  ['expandRelativeUrls', flag],
  ['noCache', flag],
  ['transformKeys', { needed: 'Multikey or JsonWebKey', values: ['Multikey', 'JsonWebKey'] }],
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
