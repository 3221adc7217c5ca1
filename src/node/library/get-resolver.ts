import { negotiate } from '../../answers/identifiers/media-types.js'
import { requireOptions } from '../../base/primitives/known-members.js'
import { identifierFault } from '../../identity/did/identifier-fault.js'
import {
  type ResolutionParameters,
  optionFault,
  queryPairs,
  resolutionOptions,
  selectedServices,
} from '../../identity/did/resolution-options.js'
import type { ResolveOptions, ResolveResult } from '../../identity/did/resolution.js'
import { shownVersion, type ShownVersion } from '../../identity/did/resolved-version.js'
import { defined } from '../../base/primitives/defined.js'
import { UserError } from '../../base/errors/rule-error.js'
import { isDidName } from '../../base/primitives/did-name.js'
import { isKeyIdentifier, type KeyForm, type W3cDocument } from '../../identity/did/w3c.js'
import type {
  DidMethodResolver,
  DidResolutionOptions,
  DidResolutionResult,
  ParsedDidUrl,
} from './did-resolver-types.js'

/** A source of resolve results: a node in this process, or an HttpResolver. */
export interface DidSource {
  /** The state of a DID, with the operations and the context asked for. */
  resolve(did: string, options?: ResolveOptions): Promise<ResolveResult>
}

export interface GetResolverOptions {
  /**
   * Treatment of a DID whose last document has expired, when that is the version asked for, however it is named: `refuse`, the default, is
   * the error `expired`; `give` gives the document, with `expired` in its metadata. Programs that verify often read no metadata.
   */
  readonly expired?: 'refuse' | 'give'
}

const method = 'ledger'
const defaultContentType = 'application/did+ld+json'
/** In the order of preference among equal weights. */
const contentTypes = [defaultContentType, 'application/did', 'application/did+json'] as const

/**
 * The method `ledger` for the npm package did-resolver, version 4.1 or later: `new Resolver(getResolver(node))`, where the node is
 * one of createNode or an HttpResolver. Takes the parameters of DID URLs, as options too, that lead to a document; a fragment leaves
 * the document whole. Never rejects: failures are an `error` of the resolution metadata with a `message`: `invalidDid`,
 * `invalidDidUrl`, `invalidOptions`, `notFound`, `representationNotSupported`, `unsupportedDidMethod`, `featureNotSupported`,
 * `expired`, and `internalError` if the node cannot answer now.
 */
export function getResolver(
  source: DidSource | { readonly resolver: DidSource },
  options: GetResolverOptions = {},
): { ledger: DidMethodResolver } {
  requireOptions('getResolver', options, ['expired'])
  const { expired = 'refuse' } = options
  if (!['refuse', 'give'].includes(expired))
    throw new UserError(`expired: refuse or give is needed, not ${String(expired)}`)
  const versions = new Versions(sourceOf(source))
  return {
    ledger: async (did, parsed, _resolver, asked) => {
      try {
        const question = readQuestion(did, parsed, asked)
        return answer(question, await versions.find(did, question), expired)
      } catch (error) {
        if (error instanceof Refusal) return failed(error.error, error.message)
        return failed('internalError', error instanceof Error ? error.message : String(error))
      }
    },
  }
}

function sourceOf(source: DidSource | { readonly resolver: DidSource }): DidSource {
  const given: unknown =
    typeof source === 'object' && source !== null && 'resolver' in source ? source.resolver : source
  if (typeof (given as Partial<DidSource> | null | undefined)?.resolve === 'function') return given as DidSource
  throw new UserError('getResolver: a node of createNode, an HttpResolver or a LightResolver is needed')
}

/** A request that has an error for an answer. */
class Refusal extends Error {
  readonly error: string

  constructor(error: string, message: string) {
    super(message)
    this.error = error
  }
}

interface Question extends ResolutionParameters {
  readonly accept: string
}

/** Reads a request; its first fault is a {@link Refusal}. */
function readQuestion(did: string, parsed: ParsedDidUrl, options: DidResolutionOptions = {}): Question {
  const { method: name, id, path, query = '', params = {} } = parsed
  if (name !== method) throw new Refusal('unsupportedDidMethod', `this is the method ${method}, not ${name}`)
  if (!isChecked(id)) {
    throw new Refusal('invalidDid', `${did}: no key has this identifier: ${identifierFault(id)}`)
  }
  const { accept = defaultContentType, cache, ...others } = options
  const inUrl = queryPairs(query)
  const inOptions = Object.entries(others).filter(([, value]) => value !== undefined)
  // The package reads these itself: the parameter before version 6, the option since then.
  const { 'no-cache': noCache = 'false', ...matrix } = params
  requireKnownNames(Object.keys(matrix), new Set())
  requireKnownNames([...inUrl, ...inOptions].map(nameOf), new Set(resolutionOptions.keys()))
  requireValues('invalidDidUrl', [['noCache', noCache], ...inUrl])
  requireValues('invalidOptions', inOptions)
  if (!['undefined', 'boolean'].includes(typeof cache))
    throw new Refusal('invalidOptions', 'cache: true or false is needed')
  requireTogether('invalidDidUrl', inUrl)
  requireTogether('invalidOptions', [...inUrl, ...inOptions])
  const type = typeof accept === 'string' ? negotiate(accept, contentTypes, defaultContentType) : undefined
  if (type === undefined) {
    throw new Refusal('representationNotSupported', `accept: one of ${contentTypes.join(', ')} is needed`)
  }
  if (path !== undefined && path !== '') throw new Refusal('notFound', `nothing is at the path ${path} of a DID`)
  return { ...(Object.fromEntries([...inUrl, ...inOptions]) as ResolutionParameters), accept: type }
}

/** Identifiers whose checksum holds: to hash them costs more than the rest of an answer. */
const checked = new Set<string>()
/** @tuning count: identifiers remembered as valid */
const mostChecked = 1024

function isChecked(id: string): boolean {
  if (checked.has(id)) return true
  if (!isKeyIdentifier(id) && !isDidName(id)) return false
  if (checked.size >= mostChecked) checked.clear()
  checked.add(id)
  return true
}

type Pairs = readonly (readonly [name: string, value: unknown])[]

function requireKnownNames(names: readonly string[], known: ReadonlySet<string>): void {
  const unknown = names.find((name) => !known.has(name))
  if (unknown === undefined) return
  throw new Refusal('featureNotSupported', `${unknown} is none of ${[...resolutionOptions.keys()].join(', ')}`)
}

function requireValues(error: string, pairs: Pairs): void {
  for (const [name, value] of pairs) {
    const option = resolutionOptions.get(name)
    const wrong = option && optionFault(option, value)
    if (wrong !== undefined) throw new Refusal(error, `${name}: ${wrong}`)
  }
}

function requireTogether(error: string, pairs: Pairs): void {
  const names = new Set(pairs.map(nameOf))
  if (names.size < pairs.length) throw new Refusal(error, 'an option is given more than once')
  if (!names.has('versionId') || !names.has('versionTime')) return
  throw new Refusal(error, 'versionId, versionTime: at most one of them names a version')
}

function nameOf([name]: readonly [string, unknown]): string {
  return name
}

/** A version, and how old the answer is where its node is not in step with the chain. */
type FoundVersion = ShownVersion & Pick<ResolveResult, 'outOfStep'>

/** A version, and the text of its document, of which each caller gets a copy. */
interface KnownVersion extends ShownVersion {
  readonly text: string
}

/** Versions of a source. What was computed from an answer is kept as long as the source gives the same answer. */
class Versions {
  readonly #source: DidSource
  readonly #known: Readonly<Record<KeyForm, WeakMap<ResolveResult, KnownVersion>>> = {
    Multikey: new WeakMap(),
    JsonWebKey: new WeakMap(),
  }

  constructor(source: DidSource) {
    this.#source = source
  }

  /** A copy of the version asked for. */
  async find(
    did: string,
    { versionId, versionTime, transformKeys: keys = 'Multikey' }: Question,
  ): Promise<FoundVersion> {
    const result = await this.#source.resolve(did, {
      context: true,
      ...(versionId === undefined ? {} : { versionId }),
      ...(versionTime === undefined ? {} : { versionTime }),
    })
    const kept = this.#known[keys].get(result)
    if (kept !== undefined) return { ...kept, document: JSON.parse(kept.text) as W3cDocument | null }
    const { outOfStep } = result
    const version = shownVersion(did, result, { keys, now: Date.now() })
    if (version === undefined) {
      throw new Refusal('notFound', `${did} ${result.status === 3 ? 'does not exist' : 'has no such version'}`)
    }
    // Whether an earlier version has expired depends on the clock.
    const isLast = version.context.next === undefined
    if (isLast && outOfStep === undefined)
      this.#known[keys].set(result, { ...version, text: JSON.stringify(version.document) })
    return { ...version, ...defined({ outOfStep }) }
  }
}

function answer(
  { accept, service, serviceType }: Question,
  { document, metadata, context, outOfStep }: FoundVersion,
  expired: 'refuse' | 'give',
): DidResolutionResult {
  // The last version can be named too, by its id or by the present time.
  const isLast = context.next === undefined
  if (metadata.expired === true && isLast && expired === 'refuse') {
    const refused = failed('expired', `the document expired at ${metadata.expires}; its holder has to renew it`)
    return { ...refused, didDocumentMetadata: { ...metadata } }
  }
  if (document !== null && (service !== undefined || serviceType !== undefined)) {
    document.service = selectedServices(document, { ...(service && { service }), ...(serviceType && { serviceType }) })
    if (document.service.length === 0) throw noService(outOfStep)
  }
  const { height, blockHash } = context
  return {
    didResolutionMetadata: {
      ...(document === null ? {} : { contentType: accept }),
      ...{ height, blockHash },
      ...defined({ age: outOfStep?.age }),
    },
    didDocument: document,
    didDocumentMetadata: { ...metadata },
  }
}

/** An old document may have been given the service since. */
function noService(outOfStep: ResolveResult['outOfStep']): Refusal {
  const missing = 'the document has no such service'
  if (outOfStep === undefined || outOfStep.always) return new Refusal('notFound', missing)
  const { height, age } = outOfStep
  return new Refusal(
    'internalError',
    `the node is not in step with its chain: as of height ${height}, ${age} s ago, ${missing}`,
  )
}

function failed(error: string, message: string): DidResolutionResult {
  return { didResolutionMetadata: { error, message }, didDocument: null, didDocumentMetadata: {} }
}
