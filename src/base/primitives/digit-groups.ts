/**
 * A number without the gaps between its groups of three digits, as the pages print them, and people with a space of any width; any other
 * text as it is. Commas and points are no gaps: which of both stands before decimals differs from country to country.
 */
export function withoutGaps(text: string): string {
  return /^-?\d{1,3}([ \u00a0\u2009\u202f])\d{3}(?:\1\d{3})*(?:\.\d+)?$/.test(text) ? text.replace(/\s/g, '') : text
}
