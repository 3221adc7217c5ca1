import type { NodeClient } from '../../clients/client/node-client.js'
import { isObject } from '../../base/primitives/is-object.js'
import { UserError } from '../../base/errors/rule-error.js'
import { bundleFormat, fitsBundle, maxBundleSize } from './load-proofs.js'

/** A Bundle: an answer of a node with all that checks it from genesis on. What the node sends is passed on, and not judged. */

/** Question: a DID in full, its last version or all, or a credential by its absolute id. */
export type Asked = { readonly did: string; readonly all: boolean } | { readonly id: string; readonly issuer?: string }

export interface Bundle {
  readonly format: typeof bundleFormat
  readonly asked: Asked
  /** With its proof. */
  readonly answer: unknown
  /** On a chain with validators: all of their changes. */
  readonly changes?: readonly unknown[]
  /** Without: all headers from height 1 on. */
  readonly headers?: readonly unknown[]
}

export type AskedNode = Pick<NodeClient, 'rest' | 'rpc'>

/** Headers that a node sends at once. */
const headersAtOnce = 2000

/** Returns the answer of a node with its proof. A {@link UserError} if it refuses, or sends no proof. */
export async function makeBundle(node: AskedNode, asked: Asked): Promise<Bundle> {
  const method = 'did' in asked ? 'resolvedid' : 'did_resolveCredential'
  const answer = await node.rpc(method, { ...asked, proof: true })
  const proof = isObject(answer) ? answer['proof'] : undefined
  const anchor = isObject(proof) ? proof['anchor'] : undefined
  if (!isObject(anchor)) throw new UserError(`the node at ${node.rest} answers without a proof`)
  const isConfirmed = 'confirm' in anchor
  const ways = isConfirmed ? { changes: await changesOf(node) } : { headers: await headersOf(node) }
  return { format: bundleFormat, asked, answer, ...ways }
}

/** Parts of a bundle, as long as they fit into one: a node could send them without end. */
class Parts {
  readonly items: unknown[] = []
  readonly #node: AskedNode
  #size = 0

  constructor(node: AskedNode) {
    this.#node = node
  }

  add(items: readonly unknown[]): void {
    for (const item of items) {
      this.#size += JSON.stringify(item).length + 1
      if (!fitsBundle(this.#size)) {
        throw new UserError(`the node at ${this.#node.rest} sends more than a bundle holds, ${maxBundleSize} bytes`)
      }
      this.items.push(item)
    }
  }
}

/** All changes of validators since block 1. */
async function changesOf(node: AskedNode): Promise<unknown[]> {
  const found = new Parts(node)
  for (let from = 1; ;) {
    const answer = await node.rpc('light_changes', { from })
    const { changes, more } = isObject(answer) ? answer : {}
    if (!Array.isArray(changes)) throw new UserError(`the node at ${node.rest} tells no changes of validators`)
    found.add(changes)
    if (more !== true) return found.items
    const last: unknown = changes.at(-1)
    const height = isObject(last) ? last['height'] : undefined
    if (typeof height !== 'number' || height <= from) {
      throw new UserError(`the node at ${node.rest} says that more validators changed, and not when`)
    }
    from = height
  }
}

/** All headers from height 1 on; a node sends fewer than asked for where they are large. */
async function headersOf(node: AskedNode): Promise<unknown[]> {
  const found = new Parts(node)
  for (;;) {
    const headers = await node.rpc('light_headers', { from: found.items.length + 1, count: headersAtOnce })
    if (!Array.isArray(headers)) throw new UserError(`the node at ${node.rest} gives no headers`)
    found.add(headers)
    if (headers.length === 0) return found.items
  }
}
