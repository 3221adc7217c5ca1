import { suite } from './suite.js'

/** Programs of others against a node, for `npm run test:clients` (test/clients/README.md). */
export default suite(['test/clients/**/*.test.ts'], { maxWorkers: 2, silent: 'passed-only' })
