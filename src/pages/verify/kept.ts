/** What this browser keeps of a page between visits. It can forbid that, and then nothing is kept. */

export function keptText(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

export function keepText(name: string, text: string): void {
  try {
    localStorage.setItem(name, text)
  } catch {
    // The next visit begins anew.
  }
}
