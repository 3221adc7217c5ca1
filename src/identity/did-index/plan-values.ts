import { type JsonObject, type JsonValue, loneSurrogate } from '../../base/primitives/strict-json.js'
import type { Place, Wrap } from './document-places.js'
import {
  allOf,
  anyOf,
  type DocumentPlan,
  type ElementPlan,
  monthsPlan,
  type Plan,
  type Planning,
  tokenPlan,
} from './plan.js'
import { claimValueToken, type TokenKind, tokenKind, tokenOf } from './token.js'

/** Plans of a condition on one value: equality, operators, lists of values. */

/** Whether the members of an object are operators. A compiled condition has no mixture. */
export function isOperators(condition: JsonObject): boolean {
  for (const name of condition.keys()) return name.startsWith('$')
  return false
}

type Scalar = null | boolean | number | string

function isScalar(value: JsonValue): value is Scalar {
  return value === null || typeof value !== 'object'
}

/** A value that is no object of operators: equality with a scalar, an array of which all are contained, a pattern. */
export function scalarPlan(place: Place, value: JsonValue, where: string, planning: Planning): Plan<ElementPlan> {
  if (isScalar(value)) return equalPlan(place, value, where, planning)
  if (!Array.isArray(value)) return claimThere(place, where, planning)
  if (place.kind === 'types') {
    if (value.length === 0) return planning.unknown(where)
    return allOf(
      value.map((entry, i) =>
        isScalar(entry) ? equalPlan(place, entry, `${where}[${i}]`, planning) : planning.unknown(where),
      ),
    )
  }
  if (place.kind !== 'claim') return claimThere(place, where, planning)
  const values = value.filter(isScalar).map((entry) => claimValue(place.name, entry))
  return part(allOf([claimThere(place, where, planning), ...values]))
}

/** Equality with a scalar, as `$eq` and the elements of `$in` and `$all` have it too. */
function equalPlan(place: Place, value: Scalar, where: string, planning: Planning): Plan<ElementPlan> {
  if (place.kind === 'claim' && value !== null) {
    planning.unknown(where)
    return claimValue(place.name, value)
  }
  if (place.kind === 'withinClaim' && value !== null) return claimThere(place, where, planning)
  if (typeof value !== 'string') return planning.unknown(where)
  switch (place.kind) {
    case 'serviceType':
      return textPlan(tokenKind.serviceType, value, true)
    case 'types':
    case 'type':
      return textPlan(tokenKind.credentialType, value, true)
    case 'issuer':
    case 'controller':
      planning.named.add(value)
      return textPlan(tokenKind[place.kind], value, true)
    case 'publicKey':
      planning.unknown(where)
      return textPlan(tokenKind.publicKey, value, false)
    default:
      return planning.unknown(where)
  }
}

/** A value of a claim, or if it has no token of its own, that the claim is there. */
function claimValue(name: string, value: Scalar): ElementPlan {
  if (!isStorable(name) || (typeof value === 'string' && !isStorable(value))) return noElement
  const token = claimValueToken(name, value)
  return token === undefined ? textPlan(tokenKind.claimName, name, false) : tokenPlan(token, false)
}

/** Plan that no document matches. */
const noElement: ElementPlan = { kind: 'any', parts: [] }

/** Whether a document can have a text. Others have the token of another text, for tokens are made of UTF-8. */
function isStorable(text: string): boolean {
  return !loneSurrogate.test(text)
}

/** The elements that have a text. */
function textPlan(kind: TokenKind, text: string, exact: boolean): ElementPlan {
  return isStorable(text) ? tokenPlan(tokenOf(kind, text), exact) : noElement
}

/** That a claim is there, which is necessary for whatever is asked of its value. */
function claimThere(place: Place, where: string, planning: Planning): Plan<ElementPlan> {
  planning.unknown(where)
  if (place.kind !== 'claim' && place.kind !== 'withinClaim') return undefined
  return textPlan(tokenKind.claimName, place.name, false)
}

/** Marks a plan whose matches have to be verified. */
function part(plan: Plan<ElementPlan>): Plan<ElementPlan> {
  return plan && { kind: 'part', of: plan }
}

/** An operator on the values at a place, `$and` and `$or` aside. */
export function operatorPlan<P>(
  place: Place,
  name: string,
  operand: JsonValue,
  where: string,
  planning: Planning,
  wrap: Wrap<P>,
): Plan<P> {
  switch (name) {
    case '$eq':
      return wrap(isScalar(operand) ? equalPlan(place, operand, where, planning) : claimThere(place, where, planning))
    case '$in':
      return anyOf((operand as JsonValue[]).map((entry) => wrap(literalPlan(place, entry, where, planning)))) as Plan<P>
    case '$all':
      return allPlan(place, operand as JsonValue[], where, planning, wrap)
    case '$exists':
      return operand === true && place.kind === 'claim'
        ? wrap(textPlan(tokenKind.claimName, place.name, true))
        : wrap(operand === true ? claimThere(place, where, planning) : planning.unknown(where))
    case '$elemMatch':
      return wrap(elemMatchPlan(place, operand as JsonObject, where, planning))
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
    case '$mod':
    case '$regex':
    case '$size':
    case '$type':
      return wrap(claimThere(place, where, planning))
    case '$options':
      // It is a part of $regex.
      return wrap(undefined)
    default:
      return wrap(planning.unknown(where))
  }
}

/** Equality with a scalar, or with an object or array as a whole. */
function literalPlan(place: Place, value: JsonValue, where: string, planning: Planning): Plan<ElementPlan> {
  return isScalar(value) ? equalPlan(place, value, where, planning) : claimThere(place, where, planning)
}

/** `$all`: each entry may be met by the value of another element. */
function allPlan<P>(
  place: Place,
  entries: readonly JsonValue[],
  where: string,
  planning: Planning,
  wrap: Wrap<P>,
): Plan<P> {
  if (entries.length === 0) return anyOf<P>([]) as Plan<P>
  return allOf(entries.map((entry, i) => wrap(literalPlan(place, entry, `${where}[${i}]`, planning)))) as Plan<P>
}

/** One element of an array meets all of a condition. */
function elemMatchPlan(place: Place, condition: JsonObject, where: string, planning: Planning): Plan<ElementPlan> {
  if (place.kind !== 'types' || !isOperators(condition)) return claimThere(place, where, planning)
  const parts = [...condition].map(([name, operand]) =>
    operatorPlan<ElementPlan>({ kind: 'type' }, name, operand, `${where}.${name}`, planning, (plan) => plan),
  )
  const plan = allOf(parts) as Plan<ElementPlan>
  // Several types of one credential may meet what one of them has to.
  return plan && (isOneOf(plan) ? plan : part(plan))
}

/** Whether one token is enough for a plan, so that no two have to meet. */
function isOneOf(plan: ElementPlan): boolean {
  return plan.kind === 'token' || (plan.kind === 'any' && plan.parts.every(isOneOf))
}

/** Plans a condition on the expiry of a document. */
export function expiryPlan(value: JsonValue, where: string, planning: Planning): Plan<DocumentPlan> {
  const months = planning.months
  const found = (plan: ReturnType<typeof months.months>) => {
    // The index has months: a day within one is left to verification.
    if (plan === undefined || plan.possible.length > 0) planning.unknown(where)
    return plan && monthsPlan(plan)
  }
  if (typeof value === 'string') return found(months.month(value))
  if (!(value instanceof Map) || !isOperators(value)) return planning.unknown(where)
  const bounds = { from: (_date: string) => true, to: (_date: string) => true }
  let compared = false
  const others: Plan<DocumentPlan>[] = []
  for (const [name, operand] of value) {
    const at = `${where}.${name}`
    const compare = typeof operand === 'string' ? comparisons[name]?.(operand) : undefined
    if (compare !== undefined) {
      const { side, test } = compare
      const before = bounds[side]
      bounds[side] = (date) => before(date) && test(date)
      compared = true
    } else if (name === '$and' || name === '$or') {
      const entries = (operand as JsonObject[]).map((entry, i) => expiryPlan(entry, `${at}[${i}]`, planning))
      others.push(name === '$and' ? allOf(entries) : anyOf(entries))
    } else if (name === '$eq') {
      others.push(expiryPlan(operand, at, planning))
    } else if (name === '$in') {
      others.push(
        anyOf((operand as JsonValue[]).map((entry) => expiryPlan(isScalar(entry) ? entry : null, at, planning))),
      )
    } else others.push(planning.unknown(at))
  }
  return allOf(compared ? [found(months.months(bounds)), ...others] : others)
}

interface Comparison {
  readonly side: 'from' | 'to'
  readonly test: (date: string) => boolean
}

const comparisons: Readonly<Record<string, (bound: string) => Comparison>> = {
  $gt: (bound) => ({ side: 'from', test: (date) => date > bound }),
  $gte: (bound) => ({ side: 'from', test: (date) => date >= bound }),
  $lt: (bound) => ({ side: 'to', test: (date) => date < bound }),
  $lte: (bound) => ({ side: 'to', test: (date) => date <= bound }),
}
