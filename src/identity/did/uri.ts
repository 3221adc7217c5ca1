/** RFC 3986 with a scheme: characters that a URI may have, and no others. */
const uriForm = /^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/

/** Whether a text is an absolute URI. */
export function isUri(text: string): boolean {
  return uriForm.test(text)
}
