import { statfs } from 'node:fs/promises'

/** Bytes of the disk that has a directory. */
export interface DiskSpace {
  /** Those that this user may still write. */
  readonly free: number
  readonly size: number
}

export async function diskSpaceOf(directory: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(directory)
  return { free: bavail * bsize, size: blocks * bsize }
}
