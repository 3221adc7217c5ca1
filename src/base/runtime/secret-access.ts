import { UserError } from '../errors/rule-error.js'

/** Permissions of a file, as `stat` reports them. */
export interface FileAccess {
  readonly mode: number
  readonly uid: number
  isFile(): boolean
}

/** A file with a secret that others than its user may read. */
export class SharedSecretError extends UserError {}

/**
 * Refuses a file with a secret that others may read: by its mode, or since another user owns it. Root owns what it likes, and
 * hands it to a user by a group that may read it, as systemd and Kubernetes do. As a `guest`, who uses the secret of another program, root
 * may read it too. A pipe is for its reader alone, and Windows has no modes.
 */
export function refuseShared(
  path: string,
  what: string,
  access: FileAccess,
  { guest = false }: { readonly guest?: boolean } = {},
): void {
  const user = process.getuid?.()
  if (user === undefined || !access.isFile()) return
  const isHanded = access.uid === 0 && user !== 0
  if ((access.mode & (isHanded ? 0o037 : 0o077)) !== 0) {
    throw new SharedSecretError(
      `others may read the ${what} ${path}: run chmod 600 on it, and make a new one if they did`,
    )
  }
  if (access.uid === user || access.uid === 0 || (guest && user === 0)) return
  throw new SharedSecretError(
    `user ${access.uid} owns the ${what} ${path} and may read it, and this program runs as user ${user}: run chown ${user} and ` +
      'chmod 600 on it, and make a new one if that user is another person',
  )
}
