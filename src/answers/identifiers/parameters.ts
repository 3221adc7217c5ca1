import {
  type OptionPair,
  optionFault,
  type OptionValues,
  queryPairs,
  type ResolutionParameters,
  resolutionOptions,
} from '../../identity/did/resolution-options.js'
import { utf8 } from '../../base/primitives/bytes.js'
import { type JsonValue, parseStrictJson } from '../../base/primitives/strict-json.js'
import { type DidUrl, shown } from './did-url.js'
import { Problem } from './problem.js'
import { relativeReference } from './uri-reference.js'

/** The relationships of CID 1.0 §2.3; documents of this chain have the first two. */
const verificationRelationships = [
  'authentication',
  'assertionMethod',
  'keyAgreement',
  'capabilityInvocation',
  'capabilityDelegation',
] as const
type VerificationRelationship = (typeof verificationRelationships)[number]

/** Parameters of a request beside the DID: those of the DID URL and options, which mean the same. */
export interface Parameters extends ResolutionParameters {
  readonly relativeRef?: string
  readonly verificationRelationship?: VerificationRelationship
  /** Whether the result is proved, and by how much of the history. */
  readonly proof?: true | 'true' | 'history'
}

/** Source of a parameter: the DID URL, or the query or body of the request. */
type Place = 'url' | 'options'
type Given = readonly [name: string, value: JsonValue | undefined, place: Place]

/** Every name with the values that it can have: what leads to a document, and what to a part of it. */
export const identifierOptions: ReadonlyMap<string, OptionValues> = new Map<string, OptionValues>([
  ...resolutionOptions,
  ['relativeRef', { needed: 'a relative reference of RFC 3986', form: relativeReference }],
  [
    'verificationRelationship',
    { needed: `one of ${verificationRelationships.join(', ')}`, values: verificationRelationships },
  ],
  ['proof', { needed: 'true or history', values: [true, 'true', 'history'] }],
])

export interface OptionTexts {
  /** The query of the request, as it was sent. */
  readonly query: string | undefined
  /** The body of a POST. */
  readonly body: Uint8Array | undefined
}

/**
 * The parameters of a request. `FEATURE_NOT_SUPPORTED` for a name that is not known; for a name that stands twice, a value that
 * it cannot have, and values that do not go together, `INVALID_OPTIONS`, or `INVALID_DID_URL` where all of it is in the DID URL.
 */
export function readParameters({ query: inner, fragment }: DidUrl, { query, body }: OptionTexts): Parameters {
  const inPath: readonly OptionPair[] = queryPairs(inner ?? '')
  const inQuery: readonly OptionPair[] = queryPairs(query ?? '')
  for (const name of [...inPath, ...inQuery].map(([name]) => name).concat(body === undefined ? [] : namesOf(body))) {
    if (!identifierOptions.has(name)) {
      throw new Problem(
        'FEATURE_NOT_SUPPORTED',
        `${shown(name)} is none of ${[...identifierOptions.keys()].join(', ')}`,
      )
    }
  }
  const given: Given[] = [
    ...inPath.map(([name, value]): Given => [name, value, 'url']),
    ...inQuery.map(([name, value]): Given => [name, value, 'options']),
    ...(body === undefined ? [] : membersOf(body)).map(([name, value]): Given => [name, value, 'options']),
  ]
  for (const [name, value, place] of given) {
    const wrong = optionFault(identifierOptions.get(name) as OptionValues, value)
    if (wrong !== undefined) throw invalid([place], `${name}: ${wrong}`)
  }
  const found = new Map<string, Given>()
  for (const one of given) {
    const [name, , place] = one
    const before = found.get(name)
    if (before !== undefined) throw invalid([before[2], place], `${name}: given more than once`)
    found.set(name, one)
  }
  refuseMixed(found, fragment)
  return Object.fromEntries(given) as Parameters
}

/** Parameters that exclude each other, or need another one. */
function refuseMixed(found: ReadonlyMap<string, Given>, fragment: string | undefined): void {
  const placeOf = (name: string) => found.get(name)?.[2]
  const selects = found.has('service') || found.has('serviceType')
  const [id, time] = [placeOf('versionId'), placeOf('versionTime')]
  if (id !== undefined && time !== undefined) {
    throw invalid([id, time], 'versionId, versionTime: at most one of them names a version')
  }
  const relative = placeOf('relativeRef')
  if (relative !== undefined && !selects) throw invalid([relative], 'relativeRef: needs service or serviceType')
  const relationship = placeOf('verificationRelationship')
  if (relationship !== undefined && fragment === undefined) {
    throw invalid([relationship], 'verificationRelationship: needs the fragment of a verification method')
  }
  if (relationship !== undefined && selects) {
    throw invalid([relationship], 'verificationRelationship: a service has none; leave out service and serviceType')
  }
}

function invalid(places: readonly Place[], what: string): Problem {
  return new Problem(places.includes('options') ? 'INVALID_OPTIONS' : 'INVALID_DID_URL', what)
}

/** For the body of options; all that is known is flat. */
const jsonLimits = {
  /** @limit levels: nesting of the options of DID Resolution in a body */
  depth: 4,
  /** @limit count: values in them */
  tokens: 256,
}

/** The names in a body, whatever values they have; none where it is no JSON object, which {@link membersOf} refuses. */
function namesOf(body: Uint8Array): string[] {
  try {
    const value: unknown = JSON.parse(utf8(body) ?? '')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : []
  } catch {
    return []
  }
}

/** The members of the JSON object in a body. */
function membersOf(body: Uint8Array): (readonly [string, JsonValue])[] {
  const json = utf8(body)
  if (json === undefined) throw new Problem('INVALID_OPTIONS', 'the body is not UTF-8')
  let value: JsonValue
  try {
    value = parseStrictJson(json, jsonLimits)
  } catch (error) {
    throw new Problem('INVALID_OPTIONS', `the body: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (value instanceof Map) return [...value]
  throw new Problem('INVALID_OPTIONS', 'the body is JSON but not an object')
}
