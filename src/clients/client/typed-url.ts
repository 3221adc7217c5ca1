import { UserError } from '../../base/errors/rule-error.js'
import { baseUrl } from './node-url.js'

/** {@link baseUrl} of what people type and files hold: with blanks around it, and never a port alone, which would be an address of IPv4. */
export function typedUrl(given: string): string {
  const text = given.trim()
  if (/^\d+$/.test(text)) throw new UserError(`not a URL of the form http://host:port: ${text}`, 2)
  // Not shown: it goes to terminals and logs.
  if (text.includes('@')) {
    throw new UserError('a URL of a node has neither a user name nor a password: write it as http://host:port', 2)
  }
  return baseUrl(text)
}
