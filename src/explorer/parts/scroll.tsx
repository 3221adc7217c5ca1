import type { ComponentChildren, JSX, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

/** Sides of a box on which more of its content can be scrolled to, for the shadows of frame.css. */
function moreOf({ scrollLeft, scrollWidth, clientWidth }: HTMLElement): string {
  const left = scrollLeft > 1
  // Lengths are rounded, and positions are not.
  const right = scrollLeft < scrollWidth - clientWidth - 1
  return left && right ? 'both' : left ? 'left' : right ? 'right' : 'none'
}

/** For a box that scrolls sideways: its `data-more` says on which sides there is more. */
export function useScrollHint<T extends HTMLElement>(): RefObject<T | null> {
  const box = useRef<T>(null)
  const look = () => {
    if (box.current !== null) box.current.dataset['more'] = moreOf(box.current)
  }
  useLayoutEffect(look)
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    element.addEventListener('scroll', look, { passive: true })
    const sizes = new ResizeObserver(look)
    for (const one of [element, ...element.children]) sizes.observe(one)
    return () => {
      element.removeEventListener('scroll', look)
      sizes.disconnect()
    }
  }, [])
  return box
}

/** A box that scrolls sideways, by keyboard too, and shows that it does. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="scroll" ref={useScrollHint<HTMLDivElement>()} tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  )
}
