/** Texts that this browser keeps of a page between visits. It can forbid that, and then nothing is kept. */

export function keptText(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

/** Names of what is kept that begin with a text. */
export function keptNames(start: string): string[] {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(start))
  } catch {
    return []
  }
}

export function keepText(name: string, text: string): void {
  try {
    localStorage.setItem(name, text)
  } catch {
    // The next visit begins anew.
  }
}
