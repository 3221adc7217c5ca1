import { suite } from './suite.js'

/** `npm run test:browser`: tests that need Chromium, by its name in PATH or in the variable CHROMIUM. */
export default suite(['test/browser/**/*.browser.ts'], { fileParallelism: false })
