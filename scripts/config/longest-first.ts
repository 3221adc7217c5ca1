import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long for their size. */
export const longest = [
  'test/behaviour/mirror/moto.test.ts',
  'test/behaviour/mirror/store-faults.test.ts',
  'test/behaviour/sync/slow-peers.test.ts',
  'test/limits/limits.test.ts',
  'test/sim/split.test.ts',
  'test/unit/network/sync/sync.test.ts',
  'test/e2e/guides.test.ts',
  'test/e2e/hostile-texts.test.ts',
  'test/e2e/in-step.test.ts',
  'test/e2e/package.test.ts',
  'test/e2e/signer.test.ts',
  'test/e2e/stalled.test.ts',
]

/**
 * Begins with the longest files. Vitest does so by its record of earlier runs. Without one, as in a fresh clone, it begins with the largest:
 * a small one that takes long would begin last, and a core would wait for it.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => longest.some((name) => moduleId.endsWith(name))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
