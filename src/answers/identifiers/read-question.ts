import { type DidUrl, readDidUrl } from './did-url.js'
import {
  dereferencingType,
  documentTypes,
  earlierDereferencingType,
  earlierResolutionType,
  mediaTypes,
  type MediaType,
  negotiate,
  resolutionType,
  type ResultType,
  uriListType,
} from './media-types.js'
import { type Parameters, readParameters } from './parameters.js'
import { Problem } from './problem.js'

/** A request, free of HTTP's own affairs. */
export interface IdentifierRequest {
  /** Text between `/1.0/identifiers/` and the question mark, as it was sent. */
  readonly identifier: string
  /** After the question mark, as it was sent; undefined without one. */
  readonly query: string | undefined
  /** The header Accept; undefined without one. */
  readonly accept: string | undefined
  /** Body of a POST. */
  readonly body: Uint8Array | undefined
}

/** Question of a request, checked as far as that is possible without the chain. */
export interface Question {
  readonly url: DidUrl
  readonly parameters: Parameters
  readonly type: MediaType
}

/** Reads a request, or throws the first {@link Problem}: DID, method, identifier, names, values, Accept. */
export function readQuestion({ identifier, query, accept, body }: IdentifierRequest): Question {
  const url = readDidUrl(identifier)
  const parameters = readParameters(url, { query, body })
  const available = availableTypes(url, parameters)
  const type = negotiate(accept, available, isPart(url) ? dereferencingType : resolutionType)
  if (type !== undefined) return { url, parameters, type }
  throw new Problem('REPRESENTATION_NOT_SUPPORTED', `Accept: one of ${available.join(', ')} is needed`)
}

/** Whether the URL names something in the document or beside it. */
export function isPart({ path, fragment }: DidUrl): boolean {
  return path !== '' || fragment !== undefined
}

/** Whether the parameters select services. */
export function selectsServices({ service, serviceType }: Parameters): boolean {
  return service !== undefined || serviceType !== undefined
}

/** A part of a document is no result of resolution, and only services have addresses. */
function availableTypes(url: DidUrl, parameters: Parameters): readonly MediaType[] {
  return [
    ...(isPart(url) ? [] : ([resolutionType, earlierResolutionType] as const)),
    ...documentTypes,
    dereferencingType,
    earlierDereferencingType,
    ...(selectsServices(parameters) ? ([uriListType] as const) : []),
  ]
}

/** The frame of an error, for a request that may not have been understood. */
export function frameOf({ identifier, accept }: Pick<IdentifierRequest, 'identifier' | 'accept'>): ResultType {
  const [before = ''] = identifier.split(/[?#]|%3f|%23/i)
  const ofPart = /\/|%2f/i.test(before) || /#|%23/i.test(identifier)
  const type = negotiate(accept, mediaTypes, ofPart ? dereferencingType : resolutionType)
  if (type === resolutionType || type === earlierResolutionType || type === earlierDereferencingType) return type
  return ofPart || type === dereferencingType || type === uriListType ? dereferencingType : resolutionType
}
