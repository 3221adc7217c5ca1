import { endMarked } from './children.js'

/** `reaper.ts MARK`: kills the processes with a mark when its standard input ends, as it does when a run of tests is killed. */
process.stdin.resume().on('end', () => void endMarked(process.argv[2] as string))
