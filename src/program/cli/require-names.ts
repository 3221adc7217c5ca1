import { lookup } from 'node:dns/promises'
import { familyOf } from '../../base/runtime/ip-family.js'
import { UserError } from '../../base/errors/rule-error.js'

/**
 * Throws a {@link UserError} where the host of a URL has a name that does not exist: it was mistyped, and no wait mends that. A server that
 * is down passes, and so does a name that cannot be looked up now.
 */
export async function requireNames(
  urls: readonly string[],
  flag: string,
  find: (name: string) => Promise<unknown> = lookup,
): Promise<void> {
  for (const url of urls) {
    const { hostname } = new URL(url)
    if (familyOf(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) continue
    await find(hostname).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTFOUND') return
      throw new UserError(
        `${flag} ${url}: there is no host of the name ${hostname}; see whether the address is mistyped`,
        2,
      )
    })
  }
}
