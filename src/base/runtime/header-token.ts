/**
 * The token of an `Authorization` header: that of a Bearer, or the password of a Basic (RFC 7617), where it follows the first colon; empty
 * for anything else.
 */
export function headerToken(authorization: string): string {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? []
  if (scheme.toLowerCase() !== 'basic') return credentials
  const pair = Buffer.from(credentials, 'base64').toString('latin1')
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : ''
}
