import { isHeight } from '../base/primitives/height.js'
import { isObject } from '../base/primitives/is-object.js'
import { parsedJson } from '../base/primitives/parsed-json.js'

/** Word of one node about itself. */
export interface NodeWord {
  /** Height of its tip. */
  readonly height: number
  /** The height that it is on its way to. */
  readonly target: number
  readonly inStep: boolean
  readonly catchingUp: boolean
}

/** Reads the body of `/readyz`; undefined for any other. A node that has failed is on its way out: its word is none. */
export function wordIn(text: string): NodeWord | 'failed' | undefined {
  const body = parsedJson(text)
  if (!isObject(body) || typeof body['status'] !== 'string') return undefined
  if (body['status'] === 'failed') return 'failed'
  if (!isHeight(body['height'])) return undefined
  const { status, height, target } = body
  return {
    height,
    target: isHeight(target) && target > height ? target : height,
    // Of an older node, which does not say it: not known.
    inStep: body['inStep'] === true,
    catchingUp: status === 'catching up',
  }
}
