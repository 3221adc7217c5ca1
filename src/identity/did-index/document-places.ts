import type { ElementPlan, Plan } from './plan.js'

/** Lists of a document whose elements have tokens. */
export type ListName = 'service' | 'credential' | 'publicKey'

/** Place in a normalised document to which a path of a condition leads. */
export type Place =
  | { readonly kind: 'document' | 'id' | 'expires' | 'other' }
  | { readonly kind: 'list'; readonly list: ListName }
  | { readonly kind: 'element'; readonly list: ListName }
  /** A text with a token; of an issuer, a controller it has none where it is the document's own DID. */
  | { readonly kind: 'serviceType' | 'issuer' | 'controller' | 'publicKey' }
  /** The types of a credential, and one of them. */
  | { readonly kind: 'types' | 'type' }
  /** The subject of a credential, a member of it, and values deeper in that. */
  | { readonly kind: 'subject' }
  | { readonly kind: 'claim' | 'withinClaim'; readonly name: string }

/** Makes the plan of one value the plan of its surroundings. */
export type Wrap<P> = (plan: Plan<ElementPlan>) => Plan<P>

const other: Place = { kind: 'other' }
const documentMembers: Readonly<Record<string, Place>> = {
  id: { kind: 'id' },
  expires: { kind: 'expires' },
  service: { kind: 'list', list: 'service' },
  credential: { kind: 'list', list: 'credential' },
  verifiableCredential: { kind: 'list', list: 'credential' },
  publicKey: { kind: 'list', list: 'publicKey' },
}
const elementMembers: Readonly<Record<ListName, Readonly<Record<string, Place>>>> = {
  service: { type: { kind: 'serviceType' } },
  credential: {
    type: { kind: 'types' },
    issuer: { kind: 'issuer' },
    subject: { kind: 'subject' },
    credentialSubject: { kind: 'subject' },
  },
  publicKey: { controller: { kind: 'controller' }, publicKeyBase58: { kind: 'publicKey' } },
}

/** The place of a dotted key, and whether the path entered the elements of a list. An index leads to no place with a token. */
export function placeBelow(from: Place, key: string): { readonly place: Place; readonly inElement: boolean } {
  let place = from
  let inElement = false
  for (const name of key.split('.')) {
    inElement ||= place.kind === 'list'
    place = next(place, name)
  }
  return { place, inElement }
}

function next(place: Place, name: string): Place {
  switch (place.kind) {
    case 'document':
      return member(documentMembers, name)
    case 'list':
    case 'element':
      return member(elementMembers[place.list], name)
    case 'subject':
      return name === 'id' ? other : { kind: 'claim', name }
    case 'claim':
    case 'withinClaim':
      return { kind: 'withinClaim', name: place.name }
    default:
      return other
  }
}

function member(members: Readonly<Record<string, Place>>, name: string): Place {
  return (Object.hasOwn(members, name) ? members[name] : undefined) ?? other
}
