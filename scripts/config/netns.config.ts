import { suite } from './suite.js'

/** `npm run test:netns`: tests that need their own network namespaces. */
export default suite(['test/netns/**/*.netns.ts'], { fileParallelism: false })
