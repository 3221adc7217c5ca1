import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with "N passed, N failed" alone on a line, for machines that read the log. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    let passed = 0
    let failed = unhandled.length
    for (const module of modules) {
      let tests = 0
      for (const test of module.children.allTests()) {
        tests++
        if (test.result().state === 'passed') passed++
        else failed++
      }
      // A file that broke before its tests were known failed as a whole.
      if (tests === 0 && module.state() === 'failed') failed++
    }
    process.stdout.write(`${passed} passed, ${failed} failed\n`)
  }
}
