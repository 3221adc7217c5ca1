import { defined } from '../../base/primitives/defined.js'
import { isHeight } from '../../base/primitives/height.js'
import { isObject } from '../../base/primitives/is-object.js'
import { parsedJson } from '../../base/primitives/parsed-json.js'

/** Word of one node about itself. */
export interface NodeWord {
  /** Height of its tip. */
  readonly height: number
  /** The height that it is on its way to. */
  readonly target: number
  readonly inStep: boolean
  readonly catchingUp: boolean
  /** Ids of a follower and of the nodes along which it follows, as far as it is told. */
  readonly follows?: readonly string[]
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
    ...defined({ follows: followsIn(body['follows']) }),
  }
}

function followsIn(value: unknown): readonly string[] | undefined {
  const isId = (id: unknown): id is string => typeof id === 'string' && /^[0-9a-f]{16}$/.test(id)
  return Array.isArray(value) && value.every(isId) ? value : undefined
}
