import { rmSync } from 'node:fs'
import { endMarked } from './children.js'

/**
 * `reaper.ts MARK [FOLDER]`: kills the processes with a mark, and deletes a folder, when its standard input ends, as it does at the end of a
 * run of tests, and when one is killed.
 */
const [, , mark, folder] = process.argv
process.stdin.resume().on('end', () => {
  void endMarked(mark as string).then(() => {
    // A worker of a run that was killed may write there until it finds that it is alone.
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })
})
