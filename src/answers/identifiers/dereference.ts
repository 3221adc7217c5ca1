import { selectedServices } from '../../identity/did/resolution-options.js'
import type { W3cDocument, W3cEndpoint, W3cService, W3cVerificationMethod } from '../../identity/did/w3c.js'
import { defined } from '../../base/primitives/defined.js'
import { type DidUrl, shown } from './did-url.js'
import type { Parameters } from './parameters.js'
import { Problem } from './problem.js'
import { locationOf, resolveReference } from './uri-reference.js'

/** The document with the selected services alone, at least one; `NOT_FOUND` where there is none. */
export function withSelectedServices(document: W3cDocument, { service, serviceType }: Parameters): W3cDocument {
  const selected = selectedServices(document, defined({ service, serviceType }))
  if (selected.length > 0) return { ...document, service: selected }
  const wanted = [
    ...(service === undefined ? [] : [`the id ${shown(service)}`]),
    ...(serviceType === undefined ? [] : [`the type ${shown(serviceType)}`]),
  ]
  throw new Problem('NOT_FOUND', `the document has no service with ${wanted.join(' and ')}`)
}

/** Returns the target of a redirect to the first of the selected services; `NOT_FOUND` for an endpoint that is no location. */
export function serviceLocation(
  { service = [] }: W3cDocument,
  { relativeRef }: Parameters,
  fragment: string | undefined,
): string {
  const [{ id, serviceEndpoint } = { id: '', serviceEndpoint: '' }] = service
  const base = uriIn(serviceEndpoint) ?? ''
  const uri = relativeRef === undefined ? base : resolveReference(relativeRef, base)
  const location = locationOf(uri, fragment)
  if (location !== undefined) return location
  const rule =
    fragment === undefined ? 'an absolute http or https URI' : 'an absolute http or https URI without fragment'
  throw new Problem('NOT_FOUND', `the endpoint of ${shown(id)} leads to nothing that is ${rule}`)
}

/** The first URI of an endpoint: a text, or the `uri` of an object, as DIDComm has it. */
function uriIn(endpoint: W3cEndpoint): string | undefined {
  const all = Array.isArray(endpoint) ? endpoint : [endpoint]
  return all.map((one) => (typeof one === 'string' ? one : one['uri'])).find((one) => typeof one === 'string')
}

/** Returns the verification method or service that the fragment of a URL names; else `NOT_FOUND`. */
export function partOf(
  document: W3cDocument,
  { did, fragment }: DidUrl,
  { verificationRelationship }: Parameters,
): W3cVerificationMethod | W3cService {
  const id = `${did}#${fragment}`
  const { verificationMethod, keyAgreement = [], service = [] } = document
  const part = [...verificationMethod, ...keyAgreement, ...service].find((one) => one.id === id)
  if (part === undefined)
    throw new Problem('NOT_FOUND', `the document has no method and no service with the id ${shown(id)}`)
  // Documents of this chain have three of the relationships.
  const related: Partial<Record<string, readonly string[]>> = {
    authentication: document.authentication,
    assertionMethod: document.assertionMethod,
    keyAgreement: keyAgreement.map((key) => key.id),
  }
  if (verificationRelationship !== undefined && !related[verificationRelationship]?.includes(id)) {
    throw new Problem(
      'INVALID_RELATIONSHIP_FOR_VERIFICATION_METHOD',
      `${shown(id)} is no method for ${verificationRelationship}`,
    )
  }
  return part
}
