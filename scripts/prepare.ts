import { execFileSync } from 'node:child_process'
import { isStale } from './build-state.js'

/**
 * What npm runs after an installation, and before a package is packed. npx runs it too, the first time that it is asked for the
 * program of the checkout: building again would keep its user waiting, and pull the files away from a node that runs.
 */
if (isStale()) execFileSync('npm', ['run', 'build'], { stdio: 'inherit' })
