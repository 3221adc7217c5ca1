import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Ends a run with "N passed, N failed" alone on a line, for machines that read the log; ", N skipped" follows where tests were left
 * out. A test that a run did not come to, as its file broke or the run was ended, is a failed one.
 */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    let passed = 0
    let failed = unhandled.length
    let skipped = 0
    for (const module of modules) {
      const before = failed
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'skipped' && isLeftOut(test)) skipped++
        else failed++
      }
      // A file that broke before or after its tests counts as one failure.
      if (failed === before && module.state() === 'failed') failed++
    }
    process.stdout.write(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`)
  }
}

/** Whether a test was left out on purpose: by its own words, or by a filter; not because a hook of its file broke. */
function isLeftOut({ options, parent }: TestCase): boolean {
  if (options.mode === 'skip' || options.mode === 'todo') return true
  for (let suite = parent; ; suite = suite.parent) {
    if (suite.errors().length > 0) return false
    if (suite.type === 'module') return true
  }
}
