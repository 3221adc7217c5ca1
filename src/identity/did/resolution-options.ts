import { parseDate } from './date.js'
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

/** Returns what is wrong with a value; undefined: nothing. */
export type OptionCheck = (value: unknown) => string | undefined

const text: OptionCheck = (value) => (typeof value === 'string' && value !== '' ? undefined : 'text is needed')
const flag: OptionCheck = (value) =>
  [true, false, 'true', 'false'].includes(value as string) ? undefined : 'true or false is needed'

/** The names that lead to a document, with the values that each can have. */
export const resolutionOptions: ReadonlyMap<string, OptionCheck> = new Map<string, OptionCheck>([
  [
    'versionId',
    (value) =>
      typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
        ? undefined
        : 'a version is a txid, 64 lowercase hex digits',
  ],
  [
    'versionTime',
    (value) =>
      typeof value === 'string' && parseDate(value) !== undefined
        ? undefined
        : 'a real date YYYY-MM-DDTHH:MM:SSZ is needed',
  ],
  ['service', text],
  ['serviceType', text],
  // Both without effect: ids are absolute, and no answer is older than the tip.
  ['expandRelativeUrls', flag],
  ['noCache', flag],
  [
    'transformKeys',
    (value) => (value === 'Multikey' || value === 'JsonWebKey' ? undefined : 'Multikey or JsonWebKey is needed'),
  ],
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
