import { visible } from './safe-text.js'

/** Every text that a page draws, whatever component draws it, passes here: the last check, and the only one that nothing goes around. */

/** Attributes that are shown or read out. Those of fields are what a reader types, and are left. */
const shown = ['title', 'aria-label', 'placeholder', 'alt', 'label', 'content'] as const

/**
 * Writes out what is unseen in a node that Preact is about to draw: a text, which is a node without a type, or the attributes of an
 * element. Line breaks and tabs are white space to a page.
 */
export function guard(node: { readonly type: unknown; props: unknown }): void {
  if (node.type === null) {
    if (typeof node.props === 'string') node.props = visible(node.props, '\n\t')
    return
  }
  if (typeof node.type !== 'string') return
  const props = node.props as Record<string, unknown>
  for (const name of shown) {
    const text = props[name]
    if (typeof text === 'string') props[name] = visible(text, '\n\t')
  }
}
