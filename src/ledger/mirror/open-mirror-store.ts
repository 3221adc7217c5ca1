import { UserError } from '../../base/errors/rule-error.js'
import { FolderStore } from './folder-store.js'
import type { MirrorStore } from './mirror-store.js'
import { s3Scheme, type Variables } from './s3-place.js'

/**
 * Opens the place of a mirror: `s3://BUCKET/PREFIX`, or a path of a folder. `variables`: those of the process, which name the endpoint and
 * the credentials of an object store. A UserError if nothing can be written there.
 */
export async function openMirrorStore(target: string, variables: Variables): Promise<MirrorStore> {
  if (target.startsWith(s3Scheme)) {
    // A mirror in a folder needs none of it.
    const { openS3Store } = await import('./s3-store.js')
    return openS3Store(target, variables)
  }
  // A folder of such a name would be a surprise.
  if (target === '' || /^(?:[a-z][a-z0-9+.-]*:\/\/|s3:)/i.test(target)) {
    throw new UserError(`${JSON.stringify(target)}: a mirror goes to a folder, or to s3://BUCKET/PREFIX`, 2)
  }
  return FolderStore.open(target)
}
