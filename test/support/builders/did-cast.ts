import { buildDocument, type DocumentPlan } from '../../../src/identity/did/build.js'
import { authorizationKey, holder, type Holder, issueCredential } from './did.js'
import { type Cast, unsigned } from './did-rows.js'
import type { SeededRandom } from './seeded-random.js'
import { quickSigner } from './signatures.js'

/** Holders with documents in which services, credentials, keys and claims repeat, so that searches find many and few. */
export function searchableCast(random: SeededRandom, sizes: { holders: number; documents: number }): Cast {
  const holders = Array.from({ length: sizes.holders }, holder)
  const documents = holders.map((one) =>
    Array.from({ length: sizes.documents }, () => buildDocument(randomPlan(one, holders, random), unsigned)),
  )
  return { holders, documents }
}

export const castTypes = ['Hub', 'Mailbox', 'ProfileCredential', 'Membership']
export const castClaims = ['email', 'a', '7', 'type', 'subject']
export const castValues: readonly unknown[] = ['x', 'xy', '', 'Hub', 'x'.repeat(257), 0, 1, -2, true, null]
export const castDates = [
  '2026-01-31T23:59:59Z',
  '2027-06-01T00:00:00Z',
  '2027-06-15T12:00:00Z',
  '2031-12-31T23:59:59Z',
]

const numbered = (count: number, letter: string) => Array.from({ length: count }, (_, i) => `${letter}${i}`)
/** Types and claims that leave no room in the index for what comes after them. */
const crowds: readonly { readonly types: readonly string[]; readonly claims: Readonly<Record<string, number>> }[] = [
  { types: numbered(1100, 'T'), claims: {} },
  { types: [], claims: Object.fromEntries(numbered(300, 'c').map((name) => [name, 0])) },
]

/** Plan of a random document of a holder, with some credentials and keys of others. */
export function randomPlan(one: Holder, others: readonly Holder[], random: SeededRandom): DocumentPlan {
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)] as T
  const some = <T>(most: number, make: (i: number) => T) =>
    Array.from({ length: random.below(most + 1) }, (_, i) => make(i))
  const services = some(3, (i) => {
    const one = () => pick(['https://x.example', { uri: 'https://y.example', a: pick(castValues) }])
    const serviceEndpoint = random.below(3) === 0 ? [one(), `https://z.example/${i}`] : one()
    return { id: `#service-${i}`, type: pick(castTypes), serviceEndpoint, a: pick(castValues) }
  })
  const value = (): unknown => {
    const form = random.below(8)
    if (form === 0) return some(3, () => pick(castValues))
    if (form === 1) return Object.fromEntries(some(2, () => [pick(['a', 'email']), pick(castValues)]))
    if (form === 2) return some(2, () => ({ a: pick(castValues) }))
    return pick(castValues)
  }
  const credentials = some(3, (i) => {
    const issuer = random.below(3) === 0 ? pick(others) : one
    const claims = Object.fromEntries(some(4, () => [pick(castClaims), value()]))
    const type = [...new Set([pick(castTypes), pick(castTypes)])]
    const { types = [], claims: more = {} } = crowds[random.below(60)] ?? {}
    const credentialSubject = { id: one.did, ...more, ...claims }
    const changes = { id: `${one.did}#credential-${i}`, type: [...types, ...type], credentialSubject }
    return issueCredential(issuer.did, issuer.primary, one.did, changes, `${issuer.did}#primary`)
  })
  const delegates = some(2, (i) =>
    authorizationKey(`delegate-${i}`, quickSigner(), pick(others.filter((h) => h !== one)).did),
  )
  const keys = [...one.plan.keys, ...delegates]
  const alsoKnownAs = some(2, (i) => `https://x.example/${i}`)
  return { ...one.plan, keys, services, credentials, alsoKnownAs, expires: pick(castDates) }
}
