/** Characters of a URI that delimit nothing by themselves here: those of RFC 3986 without `#`, `[` and `]`, and percent signs before two hex digits. */
const part = "(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
/** A scheme, at least one character more, a fragment at most; brackets around the address of a host alone. docs/format.md, 9.4, has it. */
const uriForm = new RegExp(
  `^[A-Za-z][A-Za-z0-9+.-]*:(?=.)(?://(?:${part}*@)?\\[[0-9A-Fa-fv:.]+\\])?${part}*(?:#${part}*)?$`,
)

/** Whether a text is a URI, with a scheme. */
export function isUri(text: string): boolean {
  return uriForm.test(text)
}
