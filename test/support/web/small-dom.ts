import { vi } from 'vitest'

/** As much of a document as preact needs to draw a page, to read the text of it where no browser is. */

const blocks: readonly string[] = ['p', 'li', 'section', 'tr', 'div', 'dt', 'h1', 'h2']
const nothing = () => {}

/** An element, or a text. */
class SmallNode {
  readonly childNodes: SmallNode[] = []
  parentNode: SmallNode | null = null
  data = ''
  readonly nodeType: number
  readonly localName: string
  readonly namespaceURI = 'http://www.w3.org/1999/xhtml'
  readonly attributes = []
  readonly style = { setProperty: nothing }
  readonly dataset = {}
  ownerDocument: unknown
  scrollWidth = 0
  clientWidth = 0
  addEventListener = nothing
  removeEventListener = nothing
  setAttribute = nothing
  removeAttribute = nothing

  constructor(localName: string, data?: string) {
    this.localName = localName
    this.nodeType = data === undefined ? 1 : 3
    this.data = data ?? ''
  }

  get children(): readonly SmallNode[] {
    return this.childNodes.filter(({ nodeType }) => nodeType === 1)
  }

  get firstChild(): SmallNode | null {
    return this.childNodes[0] ?? null
  }

  get nextSibling(): SmallNode | null {
    const all = this.parentNode?.childNodes ?? []
    return all[all.indexOf(this) + 1] ?? null
  }

  insertBefore(node: SmallNode, place: SmallNode | null): SmallNode {
    node.remove()
    const at = place === null ? this.childNodes.length : this.childNodes.indexOf(place)
    this.childNodes.splice(at, 0, node)
    node.parentNode = this
    return node
  }

  remove(): void {
    const all = this.parentNode?.childNodes
    all?.splice(all.indexOf(this), 1)
    this.parentNode = null
  }

  get text(): string {
    if (this.nodeType === 3) return this.data
    const text = this.childNodes.map((child) => child.text).join('')
    return blocks.includes(this.localName) ? `\n${text}\n` : text
  }
}

/** The text that is shown below a node, a paragraph or a row in each line. */
export function textOf(node: { readonly text: string }): string {
  return node.text.replace(/ +/g, ' ').replace(/\s*\n\s*/g, '\n')
}

/** Stubs the globals of a page at an address; returns the element to draw into. */
export function stubPage(baseURI: string): SmallNode {
  const documentElement = { dataset: {} }
  const page = { baseURI, documentElement, visibilityState: 'visible', addEventListener: nothing, nodeType: 9 }
  const made = (node: SmallNode) => Object.assign(node, { ownerDocument: page })
  Object.assign(page, {
    createElement: (name: string) => made(new SmallNode(name)),
    createElementNS: (_: string, name: string) => made(new SmallNode(name)),
    createTextNode: (data: string) => made(new SmallNode('', data)),
  })
  class Observer {
    observe = nothing
    disconnect = nothing
  }
  vi.stubGlobal('document', page)
  vi.stubGlobal('location', { hash: '', replace: nothing })
  vi.stubGlobal('navigator', {})
  vi.stubGlobal('ResizeObserver', Observer)
  vi.stubGlobal('addEventListener', nothing)
  vi.stubGlobal('removeEventListener', nothing)
  return made(new SmallNode('main'))
}
