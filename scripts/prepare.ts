import { execFileSync } from 'node:child_process'
import { isStale } from './build-state.js'

/**
 * Step that npm runs after an installation, and before a package is packed. npx runs it too, at the first call of the checkout's program:
 * building again would keep its user waiting, and pull the files away from a running node.
 */
if (isStale()) execFileSync('npm', ['run', 'build'], { stdio: 'inherit' })
