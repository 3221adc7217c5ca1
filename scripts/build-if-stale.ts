import { execFileSync } from 'node:child_process'
import { isStale } from './build-state.js'

/** Builds where no build is complete, or a source is newer. */
if (isStale()) execFileSync('npm', ['run', 'build'], { stdio: 'inherit' })
