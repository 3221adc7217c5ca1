import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with "N passed, N failed" alone on a line, for machines that read the log. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    let passed = 0
    let failed = unhandled.length
    for (const module of modules) {
      const before = failed
      for (const test of module.children.allTests()) {
        if (test.result().state === 'passed') passed++
        else failed++
      }
      // A file that broke before or after its tests counts as one failure.
      if (failed === before && module.state() === 'failed') failed++
    }
    process.stdout.write(`${passed} passed, ${failed} failed\n`)
  }
}
