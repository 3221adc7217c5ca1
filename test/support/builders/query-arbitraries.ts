import fc from 'fast-check'
import { readCondition } from '../../../src/identity/did-query/condition.js'
import type { Members } from '../../../src/identity/did-query/member-path.js'

/**
 * Random documents in normalised form and random conditions on them. All names and values come from small sets, so that both meet
 * often.
 */

/** DIDs of documents, issuers and controllers. */
export const someDids = [
  'iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc',
  'iUzmqPuHDSMgVJhmqbZNCBFEbhVWQ4mPAR',
  'iNfd9s4EAmVAN9BwcrXKxqZk4',
].map((identifier) => `did:ledger:${identifier}`)
/** Replacement of a lone surrogate in UTF-8. */
const replacement = '\ufffd'
/** A text that conditions may hold, and no document. */
const loneSurrogate = '\ud800'
const types = ['Hub', 'Mailbox', 'ProfileCredential', replacement]
const claimNames = ['email', 'a', '7', 'type', 'subject', replacement]
const points = ['point0', 'point1', 'point2']
const long = 'x'.repeat(257)
const texts = ['x', 'xy', '', '1', long, 'Hub', replacement]
const numbers = [0, 1, -2, 1.5]
const dates = ['2026-01-31T23:59:59Z', '2027-06-01T00:00:00Z', '2027-06-15T12:00:00Z', '2031-12-31T23:59:59Z']

const one = <T>(values: readonly T[]) => fc.constantFrom(...values)
const scalar: fc.Arbitrary<unknown> = fc.oneof(one(texts), one(numbers), fc.boolean(), fc.constant(null))
const claim: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }),
  fc.record({ a: scalar, email: scalar }, { requiredKeys: [] }),
  fc.array(fc.record({ a: scalar }, { requiredKeys: [] }), { maxLength: 2 }),
  fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }),
)

function listOf(members: fc.Arbitrary<Members>): fc.Arbitrary<Members[]> {
  return fc.array(members, { maxLength: 3 })
}

/** Documents as the chain stores them; empty lists are left out there. */
export function documentOf(did: string): fc.Arbitrary<Members> {
  const credential = fc.record({
    type: fc.uniqueArray(one(types), { minLength: 1, maxLength: 3 }),
    issuer: one([did, ...someDids]),
    credentialSubject: fc
      .tuple(...claimNames.map(() => fc.option(claim, { nil: undefined, freq: 2 })))
      .map((values) => {
        const claims = claimNames.flatMap((name, i) => (values[i] === undefined ? [] : [[name, values[i]] as const]))
        return { id: did, ...Object.fromEntries(claims) }
      }),
  })
  const place = fc.oneof(fc.constant('https://hub.example'), fc.record({ uri: one(types), a: scalar }))
  const serviceEndpoint = fc.oneof(place, fc.array(place, { minLength: 1, maxLength: 3 }))
  const service = fc.record({ type: one(types), serviceEndpoint, a: scalar })
  const key = fc.record({ controller: one([did, did, ...someDids]), publicKeyBase58: one(points) })
  return fc
    .record({
      publicKey: listOf(key).map((keys) => [{ controller: did, publicKeyBase58: `of ${did}` }, ...keys]),
      verifiableCredential: listOf(credential),
      service: listOf(service),
      expires: one(dates),
    })
    .map((members) => {
      const held = Object.entries(members).filter(([, value]) => !Array.isArray(value) || value.length > 0)
      return { id: did, ...Object.fromEntries(held) }
    })
}

const comparison = one(['$gt', '$gte', '$lt', '$lte'])

/** Levels of operators within `$elemMatch`, `$all`, `$not` and the like. */
const operatorDepth = 2

/** Operators on a scalar, or an array of scalars, at the end of a path. */
function operatorOn(values: fc.Arbitrary<unknown>, depth: number): fc.Arbitrary<Members> {
  const list = fc.array(values, { maxLength: 3 })
  const byTokens: fc.Arbitrary<Members> = fc.oneof(
    values.map(($eq) => ({ $eq })),
    list.map(($in) => ({ $in })),
    list.map(($all) => ({ $all })),
    fc.boolean().map(($exists) => ({ $exists })),
  )
  const byReading: fc.Arbitrary<Members> = fc.oneof(
    values.map(($ne) => ({ $ne })),
    list.map(($nin) => ({ $nin })),
    fc.tuple(comparison, fc.oneof(one(texts), one(numbers))).map(([name, bound]) => ({ [name]: bound })),
    one(['x', '^x', 'y$', '']).map(($regex) => ({ $regex })),
    one(['X', '^hUb']).map(($regex) => ({ $regex, $options: 'i' })),
    fc.nat(3).map(($size) => ({ $size })),
    one(['string', 'number', 'bool', 'null', 'object', 'array']).map(($type) => ({ $type })),
    fc.nat(1).map((rest) => ({ $mod: [2, rest] })),
  )
  const plain = fc.oneof({ weight: 3, arbitrary: byTokens }, { weight: 2, arbitrary: byReading })
  if (depth === 0) return plain
  const inner = operatorOn(values, depth - 1)
  return fc.oneof(plain, joined(inner))
}

/** Conditions joined by operators on the same value or its elements. */
function joined(inner: fc.Arbitrary<Members>): fc.Arbitrary<Members> {
  const two = fc.tuple(inner, inner)
  return fc.oneof(
    { weight: 3, arbitrary: inner.map(($elemMatch) => ({ $elemMatch })) },
    inner.map(($not) => ({ $not })),
    two.map((both) => ({ $all: both.map(($elemMatch) => ({ $elemMatch })) })),
    two.map(([a, b]) => ({ ...a, ...b })),
    two.map((both) => ({ $and: both })),
    two.map((both) => ({ $or: both })),
    two.map((both) => ({ $nor: both })),
  )
}

/** Conditions on a scalar at the end of a path. */
function asked(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 2, arbitrary: values },
    { weight: 5, arbitrary: operatorOn(values, operatorDepth) },
    fc.array(values, { maxLength: 3 }),
  )
}

const askedScalar = fc.oneof({ weight: 9, arbitrary: scalar }, fc.constant(loneSurrogate))
const askedNames = [...claimNames, loneSurrogate]
const typeAsked = asked(fc.oneof({ weight: 9, arbitrary: one(types) }, askedScalar))
const didAsked = asked(fc.oneof({ weight: 9, arbitrary: one(someDids) }, askedScalar))
const claimAsked = fc.oneof(
  asked(askedScalar),
  fc.record({ a: scalar }, { requiredKeys: [] }),
  fc.constant({ $eq: { a: 1 } }),
)

/** A member of a pattern: a name, possibly dotted, and what is asked there. */
const subjectMember = fc
  .tuple(one([...askedNames, 'id', 'email.a', 'a.0', 'a.email', 'subject.a']), claimAsked)
  .map(([name, value]) => ({ [name]: value }))
const elementMembers: Readonly<Record<'credential' | 'service' | 'publicKey', fc.Arbitrary<Members>>> = {
  credential: fc.oneof(
    typeAsked.map((type) => ({ type })),
    didAsked.map((issuer) => ({ issuer })),
    fc.tuple(one(['subject', 'credentialSubject']), subjectMember).map(([name, member]) => ({ [name]: member })),
    fc
      .tuple(one(['subject', 'credentialSubject']), subjectMember, subjectMember)
      .map(([name, a, b]) => ({ [name]: { ...a, ...b } })),
    subjectMember.map((member) =>
      Object.fromEntries(Object.entries(member).map(([name, value]) => [`subject.${name}`, value])),
    ),
    fc.constantFrom({ 'type.0': 'Hub' }, { nothing: 1 }, {}),
  ),
  service: fc.oneof(
    typeAsked.map((type) => ({ type })),
    claimAsked.map((a) => ({ a })),
    claimAsked.map((a) => ({ serviceEndpoint: { a } })),
    claimAsked.map((a) => ({ 'serviceEndpoint.a': a })),
    asked(one(['https://hub.example', 'Hub'])).map((serviceEndpoint) => ({ serviceEndpoint })),
  ),
  publicKey: fc.oneof(
    didAsked.map((controller) => ({ controller })),
    asked(one(points)).map((publicKeyBase58) => ({ publicKeyBase58 })),
  ),
}
type List = keyof typeof elementMembers
const lists: readonly List[] = ['credential', 'service', 'publicKey']

/** A pattern on one element of a list. */
function patternOf(list: List): fc.Arbitrary<Members> {
  return fc
    .array(elementMembers[list], { minLength: 1, maxLength: 3 })
    .map((members) => Object.assign({}, ...members) as Members)
}

/** Whether there are operators alone, or members alone: a mixture is refused. */
function isOfOneKind(condition: Members): boolean {
  const names = Object.keys(condition)
  return names.every((name) => name.startsWith('$') === names[0]?.startsWith('$'))
}

/** Conditions on a list. */
function ofList(list: List): fc.Arbitrary<Members> {
  const pattern = patternOf(list)
  const nested = joined(fc.oneof({ weight: 3, arbitrary: pattern }, joined(pattern)).filter(isOfOneKind))
  const value: fc.Arbitrary<unknown> = fc.oneof(
    { weight: 5, arbitrary: pattern },
    fc.array(pattern, { maxLength: 2 }),
    { weight: 6, arbitrary: nested.filter(isOfOneKind) },
    fc.boolean().map(($exists) => ({ $exists })),
    fc.nat(3).map(($size) => ({ $size })),
  )
  const name = list === 'credential' ? one(['credential', 'verifiableCredential']) : fc.constant(list)
  return fc.tuple(name, value).map(([at, asks]) => ({ [at]: asks }))
}

/** Dotted paths into the elements of a list. */
function dotted(list: List): fc.Arbitrary<Members> {
  return fc
    .tuple(one(['', '0.']), elementMembers[list])
    .map(([index, member]) =>
      Object.fromEntries(Object.entries(member).map(([name, value]) => [`${list}.${index}${name}`, value])),
    )
}

/** Conditions on one place alone: in longer ones another part hides what is wrong with one. */
export const conditionsAtOnePlace: fc.Arbitrary<Members> = fc
  .oneof(
    { weight: 2, arbitrary: typeAsked.map((asks) => ['credential', 'type', asks] as const) },
    typeAsked.map((asks) => ['service', 'type', asks] as const),
    didAsked.map((asks) => ['credential', 'issuer', asks] as const),
    didAsked.map((asks) => ['publicKey', 'controller', asks] as const),
    asked(one(points)).map((asks) => ['publicKey', 'publicKeyBase58', asks] as const),
    fc
      .tuple(one(askedNames), claimAsked)
      .map(([name, asks]) => ['credential', `credentialSubject.${name}`, asks] as const),
  )
  .chain(([list, name, asks]) =>
    fc.constantFrom<Members>(
      { [`${list}.${name}`]: asks },
      { [list]: { [name]: asks } },
      { [list]: [{ [name]: asks }] },
    ),
  )

const ofExpiry = fc.oneof(
  one(dates),
  fc.tuple(comparison, one([...dates, '2027', '2027-06', '', '9'])).map(([name, bound]) => ({ [name]: bound })),
  fc
    .tuple(one(['2026', '2027-06-01', '2027-06-10']), one(['2027-06-30', '2031', '2032']))
    .map(([$gte, $lt]) => ({ $gte, $lt })),
  fc.tuple(one(dates), one(['2027', '2030'])).map(([$eq, $gt]) => ({ $or: [{ $eq }, { $gt }] })),
  fc.constant({ $in: dates.slice(0, 2) }),
  fc.constant({ $regex: '^2027' }),
)

/** Conditions on whole documents, nested in each other so many times. */
export function conditionsOf(depth: number): fc.Arbitrary<Members> {
  return conditionOf(depth).filter(isWithinLimits)
}

function isWithinLimits(condition: Members): boolean {
  try {
    readCondition(condition)
    return true
  } catch {
    return false
  }
}

function conditionOf(depth: number): fc.Arbitrary<Members> {
  const plain = fc.oneof(
    ...lists.map((list) => ({ weight: 3, arbitrary: ofList(list) })),
    ...lists.map((list) => ({ weight: 2, arbitrary: dotted(list) })),
    ofExpiry.map((expires) => ({ expires })),
    asked(one(someDids)).map((id) => ({ id })),
    fc.constantFrom<Members>({}, { nothing: { $exists: false } }, { 'proof.type': null }),
  )
  const several = fc.oneof(
    conditionsAtOnePlace,
    fc.array(plain, { minLength: 1, maxLength: 3 }).map((all) => Object.assign({}, ...all) as Members),
  )
  if (depth === 0) return several
  const inner = fc.array(conditionOf(depth - 1), { minLength: 1, maxLength: 3 })
  return fc.oneof(
    { weight: 3, arbitrary: several },
    fc.tuple(one(['$and', '$or', '$or', '$nor']), inner).map(([name, of]) => ({ [name]: of })),
  )
}

/** Names DIDs of a chain in a condition, in the place of those of {@link someDids} but the last, which no chain has. */
export function withDids(condition: Members, dids: readonly string[]): Members {
  const text = someDids
    .slice(0, -1)
    .reduce((changed, did, i) => changed.replaceAll(did, dids[i] as string), JSON.stringify(condition))
  return JSON.parse(text) as Members
}
