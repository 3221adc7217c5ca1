import { UserError } from '../../base/errors/rule-error.js'
import { readTextFile } from '../../clients/wallet/files.js'
import { isJwt } from '../../identity/credentials/compact-jws.js'

/** The text of a file with a credential for the chain, which takes none as JWT. */
export function jsonCredential(file: string): string {
  const text = readTextFile(file, 'credential')
  if (!isJwt(text.trim())) return text
  throw new UserError(
    `${file} holds a JWT, and the chain takes credentials as JSON: "did issue" without --format jwt makes one. ` +
      'A JWT counts without being declared, and "did revoke" revokes it by its id',
  )
}
