import { UserError } from '../../base/errors/rule-error.js'
import { typedUrl } from '../../clients/client/typed-url.js'

/** A URL of a store that a mirror is written to, or a path of a folder. */
const placePattern = /^(?:s3|file):|^[./~\\]|^[a-z]:\\/i

/** The base URL at which the files of a mirror are read. A {@link UserError} for anything else, and for the place where one is written. */
export function mirrorUrl(text: string): string {
  if (!placePattern.test(text)) return typedUrl(text)
  throw new UserError(
    `${text}: a mirror is read at the http or https URL of the server that shows its files; "didledger serve-static DIR" serves those of a folder`,
    2,
  )
}
