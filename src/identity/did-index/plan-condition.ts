import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'
import {
  allOf,
  anyOf,
  type DocumentPlan,
  type ElementPlan,
  everyDocument,
  isExact,
  type Plan,
  Planning,
  type SearchPlan,
} from './plan.js'
import { expiryPlan, isOperators, operatorPlan, scalarPlan } from './plan-values.js'
import { type ListName, type Place, placeBelow, type Wrap } from './document-places.js'

/**
 * Plans a condition that did-query has compiled. The plan follows the evaluator: a pattern and `$elemMatch` meet in one element,
 * all else joins documents. What it does not know is left to verification.
 */
export function planSearch(condition: JsonObject): SearchPlan {
  const planning = new Planning()
  const root = condition.size === 0 ? everyDocument : new ConditionPlanner(planning).document(condition, '')
  const { named, open } = planning
  const exact = root !== undefined && isExact(root)
  return { root, exact, named: [...named], open: [...open] }
}

/** Plans of conditions by the place in a document that they are about. */
export class ConditionPlanner {
  readonly planning: Planning

  constructor(planning: Planning) {
    this.planning = planning
  }

  /** A condition on whole documents. */
  document(condition: JsonObject, where: string): Plan<DocumentPlan> {
    if (!isOperators(condition)) return this.#documentMembers(condition, where)
    const parts = [...condition].map(([name, operand]): Plan<DocumentPlan> => {
      const at = below(where, name)
      if (name === '$nor') return this.planning.unknown(at)
      const entries = (operand as JsonObject[]).map((entry, i) => this.document(entry, `${at}[${i}]`))
      return name === '$and' ? allOf(entries) : anyOf(entries)
    })
    return allOf(parts)
  }

  #documentMembers(condition: JsonObject, where: string): Plan<DocumentPlan> {
    // An empty condition inside another one is met by every document.
    if (condition.size === 0) return everyDocument
    return allOf([...condition].map(([name, value]) => this.#documentMember(name, value, below(where, name))))
  }

  #documentMember(name: string, value: JsonValue, where: string): Plan<DocumentPlan> {
    const { place, inElement } = placeBelow({ kind: 'document' }, name)
    switch (place.kind) {
      case 'id':
        return this.#id(value, where)
      case 'expires':
        return expiryPlan(value, where, this.planning)
      case 'list':
        return this.#list(place.list, value, where)
      default:
        if (!inElement) return this.planning.unknown(where)
        return this.#inElements(place, value, where)
    }
  }

  /** The values at a dotted path into the elements of a list: each clause may be met by another element. */
  #inElements(place: Place, value: JsonValue, where: string): Plan<DocumentPlan> {
    const element: Wrap<DocumentPlan> = (plan) => plan && { kind: 'element', of: plan }
    return this.value(place, value, where, element)
  }

  /** The DID of a document. */
  #id(value: JsonValue, where: string): Plan<DocumentPlan> {
    const didPlan = (one: JsonValue): Plan<DocumentPlan> =>
      typeof one === 'string' ? { kind: 'did', did: one } : this.planning.unknown(where)
    if (!(value instanceof Map) || !isOperators(value)) return didPlan(value)
    return allOf(
      [...value].map(([name, operand]) => {
        const at = below(where, name)
        if (name === '$eq') return didPlan(operand)
        if (name === '$in') return anyOf((operand as JsonValue[]).map(didPlan))
        return this.planning.unknown(at)
      }),
    )
  }

  /** Plans a condition on a list of a document, as a whole or with some element. */
  #list(list: ListName, value: JsonValue, where: string): Plan<DocumentPlan> {
    if (Array.isArray(value)) {
      // Each entry may be met by another element.
      const entries = value.map((entry, i) => {
        const at = `${where}[${i}]`
        return entry instanceof Map && !isOperators(entry)
          ? this.#oneElement(list, entry, at)
          : this.planning.unknown(at)
      })
      return entries.length === 0 ? this.planning.unknown(where) : allOf(entries)
    }
    if (!(value instanceof Map)) return this.planning.unknown(where)
    if (!isOperators(value)) return this.#oneElement(list, value, where)
    return allOf([...value].map(([name, operand]) => this.#listOperator(list, name, operand, below(where, name))))
  }

  #listOperator(list: ListName, name: string, operand: JsonValue, where: string): Plan<DocumentPlan> {
    const each = (entries: JsonValue) =>
      (entries as JsonObject[]).map((entry, i) => this.#list(list, entry, `${where}[${i}]`))
    switch (name) {
      case '$and':
        return allOf(each(operand))
      case '$or':
        return anyOf(each(operand))
      case '$elemMatch':
        return this.#oneElement(list, operand as JsonObject, where)
      case '$all':
        return this.#listAll(list, operand as JsonValue[], where)
      default:
        return this.planning.unknown(where)
    }
  }

  #listAll(list: ListName, entries: readonly JsonValue[], where: string): Plan<DocumentPlan> {
    if (entries.length === 0) return anyOf<DocumentPlan>([])
    return allOf(
      entries.map((entry, i) => {
        const at = `${where}[${i}]`
        const inner = entry instanceof Map && entry.size === 1 ? entry.get('$elemMatch') : undefined
        return inner instanceof Map ? this.#oneElement(list, inner, at) : this.planning.unknown(at)
      }),
    )
  }

  /** A pattern or operators that one element meets. */
  #oneElement(list: ListName, condition: JsonObject, where: string): Plan<DocumentPlan> {
    const of = this.value({ kind: 'element', list }, condition, where, (plan) => plan)
    return of && { kind: 'element', of }
  }

  /** A pattern on an object within an element, or on the element. */
  #members(place: Place, condition: JsonObject, where: string): Plan<ElementPlan> {
    if (condition.size === 0) return this.planning.unknown(where)
    return allOf(
      [...condition].map(([name, value]): Plan<ElementPlan> => {
        const at = below(where, name)
        return this.value<ElementPlan>(placeBelow(place, name).place, value, at, (plan) => plan)
      }),
    )
  }

  /** Plans a condition on the values at a place within an element; `wrap` joins the plan of one value. */
  value<P>(place: Place, value: JsonValue, where: string, wrap: Wrap<P>): Plan<P> {
    if (!(value instanceof Map)) return wrap(scalarPlan(place, value, where, this.planning))
    if (!isOperators(value)) {
      const isObject = place.kind === 'element' || place.kind === 'subject'
      return wrap(isObject ? this.#members(place, value, where) : scalarPlan(place, value, where, this.planning))
    }
    const parts = [...value].map(([name, operand]): Plan<P> => {
      const at = below(where, name)
      const each = () => (operand as JsonObject[]).map((entry, i) => this.value(place, entry, `${at}[${i}]`, wrap))
      if (name === '$and') return allOf(each()) as Plan<P>
      if (name === '$or') return anyOf(each()) as Plan<P>
      return operatorPlan(place, name, operand, at, this.planning, wrap)
    })
    return allOf(parts) as Plan<P>
  }
}

function below(where: string, name: string): string {
  return where === '' ? name : `${where}.${name}`
}
