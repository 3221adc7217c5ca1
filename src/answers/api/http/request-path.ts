/**
 * The target of a request without scheme and host, which clients send to a proxy and HTTP/1.1 obliges every server to take. The
 * asterisk, which means no path, becomes one that is unknown: the router does not look at the first character.
 */
export function originForm(url: string): string {
  if (url.startsWith('/')) return url
  if (url === '*') return '/*'
  const place = /^https?:\/\/[^/?#]*/i.exec(url)?.[0]
  if (place === undefined) return url
  const rest = url.slice(place.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** The path of a request without its query, which no endpoint reads. */
export function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}
